"""Compactions as recorded: begun, applied, ended otherwise, undone; each in one transaction (rules I1, I2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chatapp import metrics
from chatapp.history.allowing import admit
from chatapp.history.boundary import as_stored, compaction_in_force, record_for_path, segments_of
from chatapp.history.errors import ChatBusy, Fenced, NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.ongoing import LEASE, forget_chunks, live_compaction
from chatapp.history.sizes import outdate_record
from chatapp.history.texts import storable
from chatapp.models import Chat, Compaction, LanguageModel, Run
from compaction.memory import Memory, after_success
from compaction.segments import Segment, joined


@transaction.atomic
def begin_compaction(
    *,
    chat_id: UUID,
    trigger: Compaction.Trigger,
    by: str,
    user_id: int | None = None,
    run_id: int | None = None,
    instructions: str = "",
    up_to: int | None = None,
    to_model: LanguageModel | None = None,
) -> Compaction:
    """Claim the chat's one live compaction (rule I2). `run_id`: the run that it belongs to, if any.

    `instructions` and `up_to` (the id of the last message to archive) are a person's wishes (rule B6), `to_model` is
    what the chat changes to when it is applied (rule B8).

    Raises ChatBusy("already_running") or, for the button, ChatBusy("run_live"); LimitReached where no run has been
    let in for it.
    """
    chat = lock_chat(chat_id)
    if Compaction.objects.live().filter(chat=chat).exists():
        raise ChatBusy("already_running")
    live_run = Run.objects.live().filter(chat=chat).first()
    if live_run and live_run.pk != run_id:
        raise ChatBusy("run_live")
    if run_id is None:
        admit(chat)
    number_change(chat)
    return Compaction.objects.create(
        chat=chat,
        by_id=user_id,
        trigger=trigger,
        instructions=storable(instructions),
        up_to=up_to,
        to_model=to_model,
        owner=by,
        lease_until=timezone.now() + LEASE,
    )


@transaction.atomic
def apply_compaction(
    *, compaction_id: int, segments: tuple[Segment, ...], planned_record: dict[str, Any], **facts: Any
) -> Compaction:
    """Summary, boundary and time, with the row that explains them, all or none (rule I1); the model with them (B8).

    `segments` is the whole record from now on, its last one written by this compaction (but see `apply_rebuild`).

    Raises Fenced when it was cancelled or taken over, or when path or boundary aren't what they were when planned.
    """
    compaction = live_compaction(compaction_id)
    chat = lock_chat(compaction.chat_id)
    through = compaction.through  # read now, behind the lock
    if chat.record() != planned_record or through is None or not through.active:
        raise Fenced
    changes = _change_of_model(compaction)
    now = timezone.now()
    stored = tuple(replace(segment, text=storable(segment.text)) for segment in segments)
    applied = {
        "status": Compaction.Status.APPLIED,
        "summary": stored[-1].text if stored else "",
        "segments": as_stored(stored),
        "ended_at": now,
        **facts,
    }
    if not Compaction.objects.live().filter(pk=compaction_id, cancel_requested=False).update(**applied):
        raise Fenced
    transaction.on_commit(metrics.compactions.labels(Compaction.Status.APPLIED).inc)
    forget_chunks(chat.compactions.all())
    number_change(
        chat,
        summary=joined(stored),
        compacted_through_id=compaction.through_id,
        compacted_at=now,
        compaction_memory=asdict(after_success()),
        **changes,
    )
    return Compaction.objects.get(pk=compaction_id)


def _change_of_model(compaction: Compaction) -> dict[str, Any]:
    if compaction.trigger != Compaction.Trigger.MODEL:
        return {}
    to_model = LanguageModel.objects.usable().filter(pk=compaction.to_model_id or 0)
    if not to_model.exists():
        raise Fenced
    return {"model_id": compaction.to_model_id}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a compaction ended that wasn't applied: a code for the page's sentence, and the endpoint's own words."""

    status: Compaction.Status
    reason: str = ""
    detail: str = ""


@transaction.atomic
def end_compaction(*, compaction_id: int, ending: Ending) -> bool:
    """Refused, failed or cancelled: nothing else changes. False when it had ended already, or its chat is gone.

    What was refused was finished, so no later try goes on with a part of it.
    """
    compaction = Compaction.objects.live().filter(pk=compaction_id).first()
    if compaction is None:
        return False
    chat = lock_chat(compaction.chat_id)
    ended = Compaction.objects.live().filter(pk=compaction_id)
    changed = ended.update(
        status=ending.status,
        reason=ending.reason,
        reason_detail=storable(ending.detail)[:500],
        ended_at=timezone.now(),
    )
    if changed:
        transaction.on_commit(metrics.compactions.labels(ending.status).inc)
        if ending.status == Compaction.Status.REFUSED:
            forget_chunks(chat.compactions.all())
        number_change(chat)
    return bool(changed)


@transaction.atomic
def remember(*, chat_id: UUID, memory: Memory) -> None:
    """What a refusal or a failure tells the next automatic compaction (rules D3, D4); a restart remembers it, too."""
    chat = lock_chat(chat_id)
    if chat.compaction_memory != asdict(memory):
        number_change(chat, compaction_memory=asdict(memory))


@transaction.atomic
def edit_summary(*, chat_id: UUID, compaction_id: int, text: str) -> None:
    """The current segment by hand; the model's version is kept, and an empty text brings it back (rule I4).

    Raises ChatBusy while a run is live, NotPossible where it isn't the compaction in force.
    """
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    force = _in_force(chat, compaction_id)
    segments = segments_of(force)
    if not segments:
        raise NotPossible("not_in_force")
    original = force.model_summary or segments[-1].text
    edited = storable(text).strip() or original
    kept = (*segments[:-1], replace(segments[-1], text=edited))
    Compaction.objects.filter(pk=force.pk).update(
        segments=as_stored(kept), summary=edited, model_summary="" if edited == original else original
    )
    outdate_record(chat)
    number_change(chat, **record_for_path(chat))


@transaction.atomic
def request_cancel(*, chat_id: UUID, compaction_id: int) -> bool:
    """Ask the live compaction to stop; its owner sees it within a second."""
    live = Compaction.objects.live().filter(pk=compaction_id, chat_id=chat_id)
    return bool(live.update(cancel_requested=True))


@transaction.atomic
def undo_compaction(*, chat_id: UUID, compaction_id: int) -> Chat:
    """Back to the state before (rule I4). Only the compaction in force can be undone.

    Raises ChatBusy while a run or compaction is live, NotPossible otherwise.
    """
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    force = _in_force(chat, compaction_id)
    Compaction.objects.filter(pk=force.pk).update(status=Compaction.Status.UNDONE)
    number_change(chat, **record_for_path(chat))
    return chat


def refuse_while_busy(chat: Chat) -> None:
    """Raises ChatBusy while a run or a compaction of the chat is live."""
    if Run.objects.live().filter(chat=chat).exists():
        raise ChatBusy("run_live")
    if Compaction.objects.live().filter(chat=chat).exists():
        raise ChatBusy("already_running")


def _in_force(chat: Chat, compaction_id: int) -> Compaction:
    force = compaction_in_force(chat)
    if force is None or force.pk != compaction_id:
        raise NotPossible("not_in_force")
    return force
