"""What is planned over: the live messages of one chat as values, and what can be said of them without counting."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    QUEUED = "queued"
    STREAMING = "streaming"
    COMPLETE = "complete"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


COMPLETE = Status.COMPLETE
WAITING = frozenset({Status.QUEUED, Status.STREAMING})
BROKEN_OFF = frozenset({Status.INTERRUPTED, Status.FAILED})


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image that goes with a message; whoever sends the request knows what `id` stands for."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the endpoint told them; cached ones are part of prompt, reasoning ones of completion."""

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """`usage`, `model` and `estimated_prompt` belong to the call that wrote an assistant message (rules A2, A3).

    `made_after_boundary` is False for a reply that was written before the last compaction was applied: its usage
    counts messages that are archived now. `is_pinned`: stays verbatim in every request (rule C6).
    """

    id: int
    position: int
    role: str
    content: str
    status: Status = Status.COMPLETE
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    usage: Usage | None = None
    model: str = ""
    estimated_prompt: int = 0
    images: tuple[Image, ...] = ()
    made_after_boundary: bool = True
    is_pinned: bool = False

    @property
    def is_empty(self) -> bool:
        return (not self.content or self.content.isspace()) and not self.tool_calls and not self.images

    @property
    def is_waiting(self) -> bool:
        return self.status in WAITING

    @property
    def is_answer(self) -> bool:
        """A reply that ends a turn: written by the model, finished in whatever way, and not a call for tools."""
        return self.role == "assistant" and not self.is_waiting and not self.tool_calls


@dataclass(frozen=True, slots=True)
class Transcript:
    """`messages` are the live ones only, in order of position (rules C4, C5); what is archived is in `summary`.

    It may end with an unanswered user message; the empty reply that is being written is never among them.
    `measured_offset` is measured minus estimated tokens at the time of the last compaction (rule K4). `resent` is the
    archived request of a turn whose tool loop the boundary cuts through: it is sent again before the tail (rule C1).
    `pinned`: archived messages that are sent verbatim nevertheless, between record and live ones (rule C6).
    """

    system_prompt: str
    summary: str
    messages: tuple[Message, ...]
    model: str
    archived_count: int = 0
    measured_offset: int = 0
    resent: Message | None = None
    pinned: tuple[Message, ...] = ()


def turn_starts(messages: tuple[Message, ...]) -> tuple[int, ...]:
    """Indices of the user messages; what lies before the first belongs to no turn."""
    return tuple(index for index, message in enumerate(messages) if message.role == "user")


def first_unanswered(messages: tuple[Message, ...]) -> int:
    """Index of the first message that no compaction may cover (rule C2); the number of messages when there is none.

    A turn is unanswered when something in it is queued or streaming, or when no reply follows its user message. An
    empty failed reply, or a tool loop without its end, leaves only the last turn unanswered: else the person went on.
    """
    start, waits = -1, False
    for index, message in enumerate(messages):
        if message.role == "user":
            if start >= 0 and (waits or index == start + 1):
                return start
            start, waits = index, False
        if message.status is not COMPLETE and message.is_waiting:
            waits = True
    if start >= 0 and (waits or not has_answer(messages[start + 1 :])):
        return start
    return len(messages)


def has_answer(replies: tuple[Message, ...]) -> bool:
    return any(reply.is_answer and not reply.is_empty for reply in replies)


def last_complete_turn(messages: tuple[Message, ...]) -> int | None:
    """Index of the user message of the last turn with a reply in it, before anything unanswered (rule C3)."""
    end = first_unanswered(messages)
    for start in reversed(turn_starts(messages[:end])):
        if has_answer(messages[start + 1 : end]):
            return start
        end = start
    return None


def split_at_boundary(
    path: tuple[Message, ...], through_id: int | None
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Archived and live messages of a path. A boundary that isn't on the path doesn't count: all is live (rule J1)."""
    for index, message in enumerate(path):
        if message.id == through_id:
            return path[: index + 1], path[index + 1 :]
    return (), path
