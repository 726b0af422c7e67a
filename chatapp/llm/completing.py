"""A whole reply in one value, for summaries and titles; and the gathering of events that it is made of."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from chatapp.llm.deltas import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
    ToolCallSeen,
    UsageSeen,
    Waiting,
)
from chatapp.llm.patience import USUAL_PATIENCE, Patience
from chatapp.llm.streaming import stream_chat
from chatapp.llm.target import Target
from compaction.transcript import Usage

# So many pieces of a text are joined when it is asked for, and no more, however many have come.
MOST_PIECES = 512


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    reasoning: str
    usage: Usage | None
    finish_reason: str
    tool_calls: bool


class Gathered:
    """What a stream has brought so far; `take` each of its events, on one thread. Others may read meanwhile.

    `is_waiting`: nobody is asked until the next try.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self.usage: Usage | None = None
        self.finish_reason = ""
        self.has_tool_calls = False
        self.is_waiting = False

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def has_come(self) -> bool:
        """Whether the endpoint has begun to answer."""
        return bool(self.usage or self._text or self._reasoning or self.has_tool_calls)

    def take(self, event: Event) -> None:
        self.is_waiting = isinstance(event, Waiting)
        match event:
            case TextDelta(text):
                self._text = _with(self._text, text)
            case ReasoningDelta(text):
                self._reasoning = _with(self._reasoning, text)
            case TextWasReasoning():
                self._reasoning += self._text
                self._text = []
            case ToolCallSeen():
                self.has_tool_calls = True
            case UsageSeen(usage):
                self.usage = usage
            case Finished(reason):
                self.finish_reason = reason


def _with(pieces: list[str], piece: str) -> list[str]:
    """With one more; where there are many, joined in a new list, as other threads may be reading the old one."""
    pieces.append(piece)
    return pieces if len(pieces) < MOST_PIECES else ["".join(pieces)]


async def complete(
    target: Target,
    payload: list[dict[str, Any]],
    *,
    params: dict[str, Any] | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    patience: Patience = USUAL_PATIENCE,
    gathered: Gathered | None = None,
) -> Completion:
    """Streamed all the same, so that a slow one isn't taken for a dead one. Raises EndpointError.

    `gathered` holds what came, also where the call ends early.
    """
    gathered = gathered or Gathered()
    events = stream_chat(
        target, payload, params=params, max_tokens=max_tokens, temperature=temperature, patience=patience
    )
    async with aclosing(events):
        async for event in events:
            gathered.take(event)
    return Completion(
        gathered.text.strip(),
        gathered.reasoning.strip(),
        gathered.usage,
        gathered.finish_reason,
        gathered.has_tool_calls,
    )
