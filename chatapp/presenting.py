"""What a page of a chat shows, as values for the templates; the same for a whole page, a fragment and the socket."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from chatapp import runs
from chatapp.history import boundary, loading, paths
from chatapp.models import Chat, Compaction, LanguageModel, Message, Run, SiteSettings
from chatapp.models.messages import MessageQuerySet
from chatapp.rendering import Frame, render, render_plain, split
from compaction.budget import Meter
from compaction.exact import find_values
from compaction.memory import Memory
from compaction.transcript import Message as PureMessage

MESSAGES_ON_A_PAGE = 40

# Markdown of a reply costs milliseconds and never changes; a page shows the same forty again and again.
render_kept = lru_cache(maxsize=1024)(render)


@dataclass(frozen=True, slots=True)
class MessageView:
    id: int
    position: int
    role: str
    status: str
    html: SafeString
    frame: Frame | None
    reasoning_html: SafeString
    reasoning_frame: Frame | None
    failure: str
    failure_detail: str
    finish_reason: str
    model_name: str
    created_at: datetime
    copy_text: str
    can_regenerate: bool
    can_retry: bool
    is_pinned: bool
    left_out_count: int
    version: int = 1
    versions: int = 1
    previous_id: int | None = None
    next_id: int | None = None
    is_new: bool = False

    @property
    def is_streaming(self) -> bool:
        return self.status == Message.Status.STREAMING

    @property
    def is_queued(self) -> bool:
        return self.status == Message.Status.QUEUED


@dataclass(frozen=True, slots=True)
class DividerView:
    compaction_id: int
    count: int
    folded_at: datetime
    tokens_before: int
    tokens_after: int
    saved_percent: int
    before_is_measured: bool
    mode: str
    trigger_label: str
    seconds: float | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    model_name: str
    summary_html: SafeString
    summary_text: str
    can_undo: bool
    is_fresh_start: bool
    is_edited: bool
    values_found: int
    values_kept: int
    values_added: int
    values_left_out: list[dict[str, str]]
    values: tuple[str, ...]
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class MeterView:
    used: int
    trigger: int
    window: int
    source: str
    percent: int | None
    trigger_percent: int | None
    summary_percent_of_window: int
    state: str
    has_moved: bool
    system: int
    summary: int
    pinned: int
    live: int
    pending: int
    note: str


@dataclass(frozen=True, slots=True)
class SidebarGroup:
    label: str
    chats: list[Chat]


@dataclass(slots=True)
class ChatPage:
    """Everything that chat/page.html and chat/changes.html read of one chat."""

    chat: Chat
    seen: int
    messages: list[MessageView]
    divider: DividerView | None
    compaction: Compaction | None
    meter: MeterView
    models: list[LanguageModel]
    current_model: LanguageModel | None
    earlier_before: int | None
    run_live: bool
    is_resting: bool

    def context(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


def revision_in(text: str) -> int:
    """The revision that a page says it has seen; 0, and so everything, where it says nonsense."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def may_see(user: AbstractBaseUser, chat_id: UUID) -> bool:
    return Chat.objects.for_user(user).filter(pk=chat_id).exists()


def live_run_of(chat_id: UUID) -> Run | None:
    return Run.objects.live().filter(chat_id=chat_id).first()


def read_page(chat_id: UUID) -> ChatPage:
    """One chat as its page shows it: the newest forty live messages, whatever the length of its history."""
    page = _page_of(Chat.objects.select_related("compacted_through").get(pk=chat_id))
    _show_newest(page)
    page.divider = view_divider(page.chat)
    page.models = list(LanguageModel.objects.usable())
    return page


def _page_of(chat: Chat) -> ChatPage:
    """What can change with every revision; messages, divider and models are still to come."""
    site = SiteSettings.get_solo()
    model = loading.model_of(chat, site)
    return ChatPage(
        chat=chat,
        seen=chat.revision,
        messages=[],
        divider=None,
        compaction=notable_compaction(chat),
        meter=view_meter(loading.load_meter(chat, site, model)),
        models=[],
        current_model=model,
        earlier_before=None,
        run_live=Run.objects.live().filter(chat=chat).exists(),
        is_resting=is_resting(chat, model),
    )


def _show_newest(page: ChatPage) -> None:
    live = page.chat.messages.on_path().after_boundary(page.chat.compacted_through)
    rows = list(live.reverse()[: MESSAGES_ON_A_PAGE + 1])[::-1]
    shown = rows[-MESSAGES_ON_A_PAGE:]
    page.messages = view_messages(page.chat, shown, last_id=shown[-1].pk if shown else None)
    page.earlier_before = shown[0].position if len(rows) > MESSAGES_ON_A_PAGE else None


def _show_changed(page: ChatPage, seen: int) -> None:
    """Only the live messages that changed since; the last of the chat is known by its position."""
    live = page.chat.messages.on_path().after_boundary(page.chat.compacted_through)
    rows = list(live.filter(revision__gt=seen).reverse()[:MESSAGES_ON_A_PAGE])[::-1]
    last = live.values_list("pk", flat=True).last()
    new = {row.pk for row in rows if row.shown_revision > seen}
    views = view_messages(page.chat, rows, last_id=last)
    page.messages = [replace(view, is_new=view.id in new) for view in views]


def is_resting(chat: Chat, model: LanguageModel | None) -> bool:
    """Whether folding by itself rests (rule D4): three failures of this very model."""
    memory = Memory(**chat.compaction_memory)
    return memory.is_resting and memory.model == (model.name if model else "")


def read_changes(user: AbstractBaseUser, chat_id: UUID, seen: int) -> tuple[int, str]:
    """The chat's revision now, and the fragments that bring a page that has seen `seen` up to it.

    The one way a page is changed, whether the answer to a command, a push over the socket or a poll.
    Raises Chat.DoesNotExist for a stranger.
    """
    chat = Chat.objects.for_user(user).select_related("compacted_through").get(pk=chat_id)
    if seen >= chat.revision:
        return chat.revision, ""
    page = _page_of(chat)
    fold_changed = chat.fold_revision > seen
    whole = fold_changed or chat.path_revision > seen or not seen
    if whole:
        _show_newest(page)
    else:
        _show_changed(page, seen)
    if fold_changed:
        page.divider = view_divider(chat)
    context = page.context() | {"since": seen, "revision": chat.revision, "user": user}
    context["changed_archived"] = [] if whole else _changed_archived(chat, seen)
    context |= {"whole": whole, "fold_changed": fold_changed}
    context["sidebar"] = read_sidebar(user) if chat.listed_revision > seen else None
    return chat.revision, render_to_string("chat/changes.html", context)


def _changed_archived(chat: Chat, seen: int) -> list[MessageView]:
    """A pin is all that changes behind the divider; a page may have opened it."""
    if not chat.is_compacted:
        return []
    rows = chat.messages.on_path().up_to_boundary(chat.compacted_through).filter(revision__gt=seen)
    return view_messages(chat, list(rows[:MESSAGES_ON_A_PAGE]))


def view_messages(chat: Chat, rows: list[Message], *, last_id: int | None = None) -> list[MessageView]:
    """`last_id`: the message that ends the chat, the only one that can be written again with a click."""
    replies = [row.position for row in rows if row.role == Message.Role.ASSISTANT]
    versions = paths.versions_of(chat, replies) if replies else {}
    return [_view_message(row, versions.get(row.position, []), is_last=row.pk == last_id) for row in rows]


def _view_message(row: Message, versions: list[int], *, is_last: bool) -> MessageView:
    content, reasoning = _text_so_far(row)
    is_reply = row.role == Message.Role.ASSISTANT
    at = versions.index(row.pk) if row.pk in versions else 0
    ended_badly = row.status in {Message.Status.FAILED, Message.Status.INTERRUPTED, Message.Status.STOPPED}
    return MessageView(
        id=row.pk,
        position=row.position,
        role=row.role,
        status=row.status,
        html=SafeString("") if row.is_live else render_kept(content) if is_reply else render_plain(content),
        frame=split(content) if row.is_live else None,
        reasoning_html=render_kept(reasoning) if reasoning and not row.is_live else SafeString(""),
        reasoning_frame=split(reasoning) if reasoning and row.is_live else None,
        failure=row.failure,
        failure_detail=row.failure_detail,
        finish_reason=row.finish_reason,
        model_name=row.model_name,
        created_at=row.created_at,
        copy_text=content,
        can_regenerate=is_reply and is_last and row.status == Message.Status.COMPLETE,
        can_retry=is_reply and is_last and ended_badly,
        is_pinned=row.pinned,
        left_out_count=len(row.left_out),
        version=at + 1,
        versions=max(1, len(versions)),
        previous_id=versions[at - 1] if at > 0 else None,
        next_id=versions[at + 1] if at + 1 < len(versions) else None,
    )


def _text_so_far(row: Message) -> tuple[str, str]:
    """What is stored, or the newer text in memory where this very process is writing it."""
    if row.is_live and (live := runs.live_text(row.pk)):
        return live
    return row.content, row.reasoning


def view_divider(chat: Chat) -> DividerView | None:
    if not chat.is_compacted:
        return None
    force = boundary.compaction_in_force(chat)
    if force is None or force.through_position is None or chat.compacted_at is None:
        return None
    is_fresh_start = force.mode == Compaction.Mode.FRESH
    return DividerView(
        compaction_id=force.pk,
        count=force.through_position + 1 - (_still_sent(chat) if is_fresh_start else 0),
        folded_at=chat.compacted_at,
        tokens_before=force.tokens_before,
        tokens_after=force.tokens_after,
        saved_percent=force.saved_percent,
        before_is_measured=force.before_is_measured,
        mode=force.get_mode_display(),
        trigger_label=force.get_trigger_display(),
        seconds=force.seconds,
        calls=force.calls,
        prompt_tokens=force.prompt_tokens,
        completion_tokens=force.completion_tokens,
        cached_tokens=force.cached_tokens,
        model_name=force.model_name,
        summary_html=render_kept(chat.summary),
        summary_text=chat.summary,
        can_undo=True,
        is_fresh_start=is_fresh_start,
        is_edited=bool(force.model_summary),
        values_found=force.values_found,
        values_kept=force.values_kept,
        values_added=force.values_added,
        values_left_out=force.values_left_out,
        values=values_in(chat.summary),
        cost=force.cost,
    )


def _still_sent(chat: Chat) -> int:
    """How many archived messages are pinned, and so go with every request."""
    return chat.messages.on_path().up_to_boundary(chat.compacted_through).filter(pinned=True).count()


@lru_cache(maxsize=256)
def values_in(summary: str) -> tuple[str, ...]:
    """The exact values that a record says, each once, in its order."""
    record = PureMessage(id=0, position=0, role="assistant", content=summary)
    return tuple(value.text for value in find_values((record,)))


def notable_compaction(chat: Chat) -> Compaction | None:
    """The running compaction, or the last one if it didn't apply and nothing was said since (rules K2, K3)."""
    last = chat.compactions.order_by("-pk").first()
    quiet = {Compaction.Status.APPLIED, Compaction.Status.UNDONE}
    if last is None or last.status in quiet:
        return None
    if last.status == Compaction.Status.RUNNING or last.ended_at is None:
        return last
    said_since = chat.messages.filter(role=Message.Role.USER, created_at__gt=last.ended_at).exists()
    return None if said_since else last


def view_meter(meter: Meter) -> MeterView:
    def share(tokens: int) -> int:
        return min(100, round(100 * tokens / meter.window)) if meter.window else 0

    return MeterView(
        used=meter.used,
        trigger=meter.trigger,
        window=meter.window,
        source="measured" if meter.measured else "estimated",
        percent=share(meter.used) if meter.window else None,
        trigger_percent=share(meter.trigger) if meter.window and meter.trigger else None,
        summary_percent_of_window=share(meter.summary),
        state="over" if meter.over_trigger else "near" if meter.near_trigger else "calm",
        has_moved=meter.headroom_moved,
        system=meter.system,
        summary=meter.summary,
        pinned=meter.pinned,
        live=meter.live,
        pending=meter.pending,
        note=meter.distrusted,
    )


@dataclass(frozen=True, slots=True)
class OlderPage:
    """Up to forty older messages, in order; `before` is where the next older page ends, None at the beginning."""

    messages: list[MessageView]
    before: int | None


def read_archived(chat: Chat, *, before: int | None) -> OlderPage:
    """What lies behind the divider, the newest page first."""
    return _older(chat, chat.messages.on_path().up_to_boundary(chat.compacted_through), before)


def read_earlier(chat: Chat, *, before: int | None) -> OlderPage:
    """Live messages that weren't on the first paint."""
    return _older(chat, chat.messages.on_path().after_boundary(chat.compacted_through), before)


def _older(chat: Chat, rows: MessageQuerySet, before: int | None) -> OlderPage:
    if before is not None:
        rows = rows.filter(position__lt=before)
    newest = list(rows.reverse()[: MESSAGES_ON_A_PAGE + 1])[::-1]
    has_more = len(newest) > MESSAGES_ON_A_PAGE
    shown = newest[-MESSAGES_ON_A_PAGE:]
    return OlderPage(view_messages(chat, shown), shown[0].position if has_more else None)


def read_sidebar(user: AbstractBaseUser, *, most: int = 200) -> list[SidebarGroup]:
    """The person's chats by the day they were last touched, newest first; never a message's text."""
    today = timezone.localdate()
    groups: dict[str, list[Chat]] = {}
    for chat in Chat.objects.for_user(user).for_list().newest_first()[:most]:
        groups.setdefault(_day_label(timezone.localdate(chat.touched_at), today), []).append(chat)
    return [SidebarGroup(label, chats) for label, chats in groups.items()]


def _day_label(day: date, today: date) -> str:
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return "Last seven days"
    return day.strftime("%B %Y") if day.year != today.year else day.strftime("%B")


def empty_page() -> dict[str, Any]:
    """The context of a page without a chat: the place where a new one begins."""
    site = SiteSettings.get_solo()
    model = loading.default_model(site)
    limits = loading.limits_of(model, site)
    return {
        "chat": None,
        "seen": 0,
        "messages": [],
        "divider": None,
        "compaction": None,
        "meter": view_meter(loading.measure_new_chat(site, limits)),
        "models": list(LanguageModel.objects.usable()),
        "current_model": model,
        "earlier_before": None,
        "run_live": False,
        "is_resting": False,
    }
