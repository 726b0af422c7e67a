"""Rows into the values that compaction plans over; only the live messages are read (rule C5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from chatapp.history.attaching import NOTHING, Attached, attached_to
from chatapp.history.boundary import compaction_in_force, segments_of
from chatapp.models import Chat, Compaction, Endpoint, LanguageModel, Message, SiteSettings
from chatapp.models.messages import MessageQuerySet
from compaction.budget import Limits, Meter, headroom_tokens, measure
from compaction.continuation import continuing_tokens
from compaction.limits import RECENT_COMPLETIONS
from compaction.memory import Memory
from compaction.policies import windowed
from compaction.segments import Segment
from compaction.shrinking import Shrunk, shorten_old_results
from compaction.transcript import Image, Status, ToolCall, Transcript, Usage
from compaction.transcript import Message as PureMessage

# What is being typed has no row yet.
PENDING_ID = 0
# Newest rows that are read first where older ones can't be in the request; each time more where these don't fill it.
NEWEST_ROWS, TIMES_MORE = 256, 4


@dataclass(frozen=True, slots=True)
class Situation:
    """A chat as the planner sees it: transcript, limits, and the model that would be asked next (None: no model).

    `unread_count`: older live messages that the transcript goes without, as no request can hold them.
    """

    chat: Chat
    transcript: Transcript
    limits: Limits
    model: LanguageModel | None
    site: SiteSettings
    segments: tuple[Segment, ...]
    memory: Memory
    unread_count: int = 0

    @property
    def is_compacting(self) -> bool:
        """Whether the chat's policy folds by itself at all (rule J4)."""
        return self.chat.policy == Chat.Policy.COMPACT

    @property
    def no_system_role(self) -> bool:
        return bool(self.model and self.model.no_system_role)

    def with_pending(self, text: str, images: tuple[Image, ...] = ()) -> Situation:
        """As if `text` had been sent already; nothing is stored."""
        if not text and not images:
            return self
        messages = self.transcript.messages
        position = messages[-1].position + 1 if messages else self.transcript.archived_count
        typed = PureMessage(id=PENDING_ID, position=position, role="user", content=text, images=images)
        return replace(self, transcript=replace(self.transcript, messages=(*messages, typed)))

    def to_send(self) -> Shrunk:
        """What the next request is made of, and what it leaves out: older turns under the policy "window" (J4)."""
        if self.chat.policy == Chat.Policy.WINDOW:
            return windowed(self.transcript, self.limits)
        return shorten_old_results(self.transcript, self.limits)  # rule B9

    def meter(self, *, pending_text: str = "", pending_images: tuple[Image, ...] = ()) -> Meter:
        """The one figure that meter, trigger, button and admin read (rule A7), of what is really sent."""
        sent = self.with_pending(pending_text, pending_images).to_send().transcript
        return measure(
            replace(sent, messages=sent.messages[:-1]) if pending_text or pending_images else sent,
            self.limits,
            pending_text=pending_text,
            pending_images=len(pending_images),
            no_system_role=self.no_system_role,
        )


def default_model(site: SiteSettings) -> LanguageModel | None:
    """What a new chat starts with: the admin's choice while it is usable, else the first usable one.

    A connected endpoint goes before the demo engine: whoever connects one wants it.
    """
    usable = LanguageModel.objects.usable()
    if site.default_model_id and (chosen := usable.filter(pk=site.default_model_id).first()):
        return chosen
    return usable.exclude(endpoint__kind=Endpoint.Kind.DEMO).first() or usable.first()


def model_of(chat: Chat, site: SiteSettings) -> LanguageModel | None:
    """The chat's own model while it is usable, else the default one."""
    own = LanguageModel.objects.usable().filter(pk=chat.model_id).first() if chat.model_id else None
    return own or default_model(site)


def summariser_of(site: SiteSettings, own: LanguageModel | None) -> LanguageModel | None:
    """The admin's summariser while it is usable, else the chat's `own` model (rule E8)."""
    chosen = LanguageModel.objects.usable().filter(pk=site.summariser_id).first() if site.summariser_id else None
    return chosen or own


def limits_of(model: LanguageModel | None, site: SiteSettings, chat: Chat | None = None) -> Limits:
    """What admin and model allow; with a chat, the trigger leaves room for a reply as long as its last ones (A6)."""
    own = model.threshold_percent if model else None
    window = model.window_tokens if model else 0
    return Limits(
        window=window,
        threshold_percent=site.threshold_percent if own is None else own,
        tail_percent=site.tail_percent,
        summary_percent=site.summary_percent,
        ratio=model.estimate_ratio if model else 1.0,
        headroom=headroom_tokens(_recent_completions(chat) if chat else (), window),
        continuing=continuing_tokens(window, site.summary_percent) if _continues(model, site) else 0,
    )


def _continues(model: LanguageModel | None, site: SiteSettings) -> bool:
    """Whether summaries are asked for as one more turn where there is room: then the idle moment sees to the room."""
    if model is None or site.summariser_id not in {None, model.pk}:
        return False
    return site.compacts_when_idle and model.endpoint.keeps_cache and not model.continuation_suspended


def _recent_completions(chat: Chat) -> list[int]:
    """Completion tokens of the ten newest replies on the path, archived ones too, the newest last.

    Of calls that were measured, which have an index: a chat that was brought from elsewhere may have none.
    """
    replies = chat.messages.filter(active=True, prompt_tokens__gt=0, completion_tokens__gt=0).order_by("-position")
    newest = replies.values_list("completion_tokens", flat=True)[:RECENT_COMPLETIONS]
    return [tokens or 0 for tokens in newest][::-1]


def load_situation(
    chat_id: UUID, *, before_reply: int | None = None, model: LanguageModel | None = None, to_send: bool = False
) -> Situation:
    """The chat as it is now; with `before_reply` (a message id) only what lies before that placeholder.

    `model`: as the chat would be with that one instead of its own. `to_send`: as of situation_of. Raises
    Chat.DoesNotExist.
    """
    chat = Chat.objects.select_related("compacted_through").get(pk=chat_id)
    site = SiteSettings.get_solo()
    before = Message.objects.values_list("position", flat=True).get(pk=before_reply) if before_reply else None
    return situation_of(chat, site, model or model_of(chat, site), before=before, to_send=to_send)


def situation_of(
    chat: Chat, site: SiteSettings, model: LanguageModel | None, *, before: int | None = None, to_send: bool = False
) -> Situation:
    """Of what was read just now; `before`: only what lies before that position.

    `to_send`: for the next request and its size alone, which under the policy "window" is all the same without the
    messages that it leaves out (rule J4).
    """
    rows = chat.messages.on_path().after_boundary(chat.compacted_through)
    if before is not None:
        rows = rows.filter(position__lt=before)
    limits = limits_of(model, site, chat)
    is_bounded = to_send and chat.policy == Chat.Policy.WINDOW and limits.window > 0
    force = force_of(chat)
    transcript = _newest(chat, force, model, rows, limits) if is_bounded else transcript_of(chat, force, model, rows)
    first = transcript.messages[0].position if transcript.messages else 0
    return Situation(
        chat=chat,
        transcript=transcript,
        limits=limits,
        model=model,
        site=site,
        segments=segments_of(force),
        memory=Memory(**chat.compaction_memory),
        unread_count=first - transcript.archived_count if is_bounded and transcript.messages else 0,
    )


def force_of(chat: Chat) -> Compaction | None:
    return compaction_in_force(chat) if chat.is_compacted else None


def _newest(
    chat: Chat, force: Compaction | None, model: LanguageModel | None, rows: MessageQuerySet, limits: Limits
) -> Transcript:
    """The newest whole turns, one at least more than the window holds, or all: what is sent of them is the same.

    Turns leave a request oldest first; so once one of these has to, everything before them has had to.
    """
    number = NEWEST_ROWS
    while True:
        newest = list(rows.reverse()[:number])[::-1]
        is_all = len(newest) < number
        starts = (index for index, row in enumerate(newest) if row.role == Message.Role.USER)
        read = transcript_of(chat, force, model, newest if is_all else newest[next(starts, len(newest)) :])
        if is_all or windowed(read, limits).dropped:
            return read
        number *= TIMES_MORE


def unread_ids(situation: Situation) -> tuple[int, ...]:
    """Of the older live messages that its transcript goes without: their ids alone are read."""
    if not situation.unread_count:
        return ()
    live = situation.chat.messages.on_path().after_boundary(situation.chat.compacted_through)
    older = live.filter(position__lt=situation.transcript.messages[0].position)
    return tuple(older.values_list("pk", flat=True))


def archived_messages(chat: Chat, *, since: int, through: int) -> tuple[PureMessage, ...]:
    """Archived messages of the active path between two positions, both included."""
    rows = list(chat.messages.on_path().filter(position__gte=since, position__lte=through))
    beside = attached_to(rows, sees_images=False)
    return tuple(pure_message(row, None, beside.get(row.pk, NOTHING)) for row in rows)


def transcript_of(
    chat: Chat, force: Compaction | None, model: LanguageModel | None, rows: Iterable[Message]
) -> Transcript:
    """`force`: the compaction whose record stands for what is archived."""
    boundary = chat.compacted_through
    model_name = model.name if model else ""
    pinned = list(chat.messages.on_path().up_to_boundary(boundary).filter(pinned=True))
    shown = [row for row in rows if row.content or row.tool_calls or not row.is_live]
    beside = attached_to([*pinned, *shown], sees_images=bool(model and model.sees_images))
    return Transcript(
        system_prompt=chat.system_prompt,
        summary=chat.summary,
        messages=tuple(pure_message(row, boundary, beside.get(row.pk, NOTHING)) for row in shown),
        model=model_name,
        archived_count=boundary.position + 1 if boundary else 0,
        measured_offset=force.measured_offset if force and force.measured_model == model_name else 0,
        pinned=tuple(pure_message(row, boundary, beside.get(row.pk, NOTHING)) for row in pinned),
    )


def pure_message(row: Message, boundary: Message | None, beside: Attached = NOTHING) -> PureMessage:
    """What was deleted keeps its place as an empty message: turns stay turns, and nothing of it is sent (J2).

    `beside`: what its files add.
    """
    calls = () if row.is_deleted else row.tool_calls
    return PureMessage(
        id=row.pk,
        position=row.position,
        role=row.role,
        content="" if row.is_deleted else beside.beside(row.content),
        status=Status(row.status),
        tool_calls=tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in calls),
        tool_call_id=row.tool_call_id,
        usage=_usage(row),
        model=row.model_name,
        estimated_prompt=row.estimated_prompt_tokens or 0,
        images=() if row.is_deleted else beside.images,
        is_pinned=row.pinned,
        made_after_boundary=row.request_through_id == (boundary.pk if boundary else None),
    )


def _usage(row: Message) -> Usage | None:
    """None also where the request left something out, or held what was changed since: it doesn't tell the size (A2)."""
    if not row.prompt_tokens or row.left_out or row.usage_outdated:
        return None
    return Usage(
        prompt=row.prompt_tokens,
        completion=row.completion_tokens or 0,
        cached=row.cached_tokens or 0,
        reasoning=row.reasoning_tokens or 0,
    )
