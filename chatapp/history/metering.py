"""How full a chat is and whether a text fits, in time that doesn't grow with its messages (rule A7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from uuid import UUID

from chatapp.history.attaching import attached
from chatapp.history.loading import force_of, limits_of, load_situation, transcript_of
from chatapp.models import Chat, File, LanguageModel, SiteSettings
from compaction.budget import Limits, Meter, measure
from compaction.transcript import Image, Transcript


def fits(system_prompt: str, limits: Limits, text: str, files: Sequence[File]) -> bool:
    """Whether the model could hold this much at all; otherwise no compaction could make room, so it isn't stored."""
    beside = attached(files, sees_images=True)
    meter = measure_new_chat(system_prompt, limits, pending_text=beside.beside(text), pending_images=beside.images)
    return meter.fits


def measure_new_chat(
    system_prompt: str, limits: Limits, *, pending_text: str = "", pending_images: tuple[Image, ...] = ()
) -> Meter:
    """The meter of a chat without messages."""
    empty = Transcript(system_prompt=system_prompt, summary="", messages=(), model="")
    return measure(empty, limits, pending_text=pending_text, pending_images=len(pending_images))


def load_meter(
    chat: Chat,
    site: SiteSettings,
    model: LanguageModel | None,
    *,
    pending_text: str = "",
    pending_images: tuple[Image, ...] = (),
) -> Meter:
    """The same figure as `Situation.meter`, whatever the length: it is read from the newest usable usage on.

    Without such a usage all live messages are estimated, once a revision.
    """
    if chat.policy == Chat.Policy.WINDOW:
        situation = load_situation(chat.pk, model=model, to_send=True)
        return situation.meter(pending_text=pending_text, pending_images=pending_images)
    no_system_role = bool(model and model.no_system_role)
    limits = limits_of(model, site, chat)
    live = chat.messages.on_path().after_boundary(chat.compacted_through)
    measured = live.filter(
        prompt_tokens__gt=0,
        usage_outdated=False,
        model_name=model.name if model else "",
        request_through_id=chat.compacted_through_id,
    ).values_list("position", flat=True)
    if (since := measured.last()) is not None:
        newer = transcript_of(chat, force_of(chat), model, live.filter(position__gte=since))
        meter = measure(
            newer,
            limits,
            pending_text=pending_text,
            pending_images=len(pending_images),
            no_system_role=no_system_role,
        )
        if meter.measured:
            return meter
    whole = _measure_whole(chat.pk, chat.revision, model.pk if model else None, limits, no_system_role=no_system_role)
    pending = measure_new_chat("", limits, pending_text=pending_text, pending_images=pending_images).pending
    return replace(whole, used=whole.used + pending, pending=pending)


@lru_cache(maxsize=1024)
def _measure_whole(
    chat_id: UUID, _revision: int, model_id: int | None, limits: Limits, *, no_system_role: bool
) -> Meter:
    """Of all live messages, kept by revision: a chat without usage is counted once, not at every look and keystroke.

    The figure is kept, not the messages: 10,000 of them hold 7 MB.
    """
    chat = Chat.objects.with_boundary().get(pk=chat_id)
    model = LanguageModel.objects.filter(pk=model_id).first() if model_id else None
    rows = chat.messages.on_path().after_boundary(chat.compacted_through)
    return measure(transcript_of(chat, force_of(chat), model, rows), limits, no_system_role=no_system_role)
