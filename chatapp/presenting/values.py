"""What a page of a chat shows, as values for the templates."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.safestring import SafeString

from chatapp.history.errors import Reached
from chatapp.models import Chat, Compaction, File, Folder, LanguageModel, Message, QueuedMessage, Tag
from chatapp.rendering import Frame


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a deleted message: a line for `count` messages, or none (0) where another one stands for it."""

    count: int
    can_restore: bool


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
    retry_at: datetime | None
    finish_reason: str
    model_name: str
    created_at: datetime
    copy_text: str
    can_regenerate: bool
    can_retry: bool
    can_continue: bool
    can_edit: bool
    can_answer: bool
    is_pinned: bool
    left_out_count: int
    version: int = 1
    versions: int = 1
    previous_id: int | None = None
    next_id: int | None = None
    is_new: bool = False
    tombstone: Tombstone | None = None
    # How long the model thought; None where it isn't known (yet).
    thought_seconds: int | None = None
    files: list[File] = field(default_factory=list)

    @property
    def is_queued(self) -> bool:
        return self.status == Message.Status.QUEUED


@dataclass(frozen=True, slots=True)
class DividerView:
    compaction_id: int
    count: int
    last_count: int
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
    cached_percent: int
    model_name: str
    summary_html: SafeString
    summary_text: str
    can_undo: bool
    is_fresh_start: bool
    is_edited: bool
    is_stale: bool
    is_copy: bool
    is_rebuilt: bool
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
    # Where it folds after a reply; the trigger, or before it (rule B1).
    idle_trigger: int
    system: int
    summary: int
    pinned: int
    live: int
    pending: int
    note: str

    @property
    def mark(self) -> str:
        """What stands before a size that isn't all measured."""
        return "≈ " if self.source == "estimated" or self.pending else ""


@dataclass(frozen=True, slots=True)
class SidebarGroup:
    label: str
    chats: list[Chat]


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder as the list shows it: with its newest chats where it is open; `has_more`: not all of them."""

    folder: Folder
    chats: list[Chat]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which part of the list is looked at, and how: `older` begins a further page, `tag` narrows it down.

    `under`: the heading that stands above already; `current_id`: the chat whose page it is; `most` by day.
    """

    older: str = ""
    under: str = ""
    tag: str = ""
    is_selecting: bool = False
    current_id: UUID | None = None
    most: int = 60

    @property
    def query(self) -> QueryDict:
        """What an address says of it, from its beginning; templates add to it with {% querystring %}."""
        said = {"chat": self.current_id, "tag": self.tag, "select": "1" if self.is_selecting else ""}
        query = QueryDict(mutable=True)
        query.update({name: str(value) for name, value in said.items() if value})
        return query


@dataclass(frozen=True, slots=True)
class Sidebar:
    """A person's chats in the order of the list; every one in one place only.

    `older`: where the next page of the list by day begins, "" at its end; `last_label` is the heading that it goes on
    under. `folder_choices` and `known_tags` are offered where chats are being selected.
    """

    pinned: list[Chat]
    has_more_pinned: bool
    folders: list[OpenFolder]
    groups: list[SidebarGroup]
    older: str
    last_label: str
    place: ListPlace
    folder_choices: list[Folder]
    known_tags: list[Tag]

    @property
    def is_empty(self) -> bool:
        return not (self.pinned or self.folders or self.groups)

    @property
    def is_first_page(self) -> bool:
        return not self.place.older


@dataclass(frozen=True, slots=True)
class OlderPage:
    """Up to forty messages, in order; `before` is where the next older page ends, None at the beginning.

    `after` is where newer ones go on that aren't on the page either (those before `until`), None where it joins them.
    """

    messages: list[MessageView]
    before: int | None
    after: int | None = None
    until: int | None = None


@dataclass(slots=True)
class ChatPage:
    """Everything that chat/page.html and chat/changes.html read of one chat.

    `queued`: the messages that wait to be sent; `queue_rests` where they wait for the person, not for a reply's end,
    `queue_held`: the limit that they wait for.
    `folds_next`: when earlier turns fold by themselves next, "end" (of this reply) or "send"; "" while they don't.
    """

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
    queued: list[QueuedMessage]
    queue_rests: bool
    queue_held: Reached | None
    is_resting: bool
    folds_next: str

    def context(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}
