"""What a stream brings, one value an event; exactly one Finished ends a whole stream."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.transcript import Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """All text so far was reasoning: its end tag came, the opening one stood in the prompt (DeepSeek R1)."""


@dataclass(frozen=True, slots=True)
class ToolCallSeen:
    """The model asked for a tool, which nobody offered it."""


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """The call's usage, at most once a call and just before its end."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Waiting:
    """A wait of so many seconds before another try; `code` says why, as in errors.py. Nothing has been written yet."""

    seconds: float
    code: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The endpoint's finish reason as it is ("stop", "length", "content_filter", …); empty where it gave none."""

    reason: str


Event = TextDelta | ReasoningDelta | TextWasReasoning | ToolCallSeen | UsageSeen | Waiting | Finished
