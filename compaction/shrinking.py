"""Requests made smaller by force, never the rows: tool results are cut, then the oldest turns left out (B7, B9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from compaction.budget import Limits, weigh
from compaction.steps import results_of, steps, units
from compaction.tokens import estimate_message
from compaction.transcript import Message, Transcript, first_unanswered

# The share of the window that a forced request may take, and that from which on old tool results are shortened.
FORCED_PERCENT, CROWDED_PERCENT = 60, 50
# The newest steps of tools, whose results are not old yet.
FRESH_STEPS = 3
# Characters of a result that stay when it is shortened: how it begins tells most, how it ends is often the outcome.
HEAD, TAIL = 400, 200
LEFT_OUT = "[{count} characters of this result are left out here.]"


@dataclass(frozen=True, slots=True)
class Shrunk:
    """`transcript` is for one request only. `shortened`, `dropped`: ids of messages, for the page to show each."""

    transcript: Transcript
    shortened: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()

    @property
    def is_changed(self) -> bool:
        return bool(self.shortened or self.dropped)


def shrink(transcript: Transcript, limits: Limits) -> Shrunk:
    """What to send after the endpoint said "too long", at 60 % of the window at most; the same again for a second try.

    The window is corrected by recorded ÷ estimated. What was refused is larger than the window, whatever the estimate
    says, so the request falls to 60 % of its own size at least. The last turn stays; of its tool steps the newest.
    """
    weight = weigh(transcript, limits)
    ratio = limits.ratio * max(1.0, min(3.0, weight.meter.used / max(1, weight.estimate)))
    state = _State.of(transcript, limits)
    window = limits.window / ratio if limits.window else state.size
    room = min(window, state.size) * FORCED_PERCENT / 100
    *older, newest = [*steps(transcript.messages)] or [range(0)]
    state.shorten(results_of(transcript.messages, older), room, left_out)
    state.drop(units(transcript.messages), room)
    state.shorten(results_of(transcript.messages, [newest]), room, shortened)
    return _unmeasured(state.outcome())


def keep_newest_turns(transcript: Transcript, limits: Limits, *, tokens: int) -> Shrunk:
    """Only as many of the newest turns as fit `tokens`; tool results stay whole."""
    state = _State.of(transcript, limits)
    state.drop(units(transcript.messages), tokens / limits.ratio)
    return _unmeasured(state.outcome())


def shorten_old_results(transcript: Transcript, limits: Limits) -> Shrunk:
    """Old tool results shortened while the whole chat takes more than half of the window (rule B9).

    Decided by the estimate of the rows: the recorded size is that of a shortened request, and would undo it next time.
    """
    has_results = any(message.role == "tool" for message in transcript.messages)
    if not (has_results and limits.window and _is_crowded(transcript, limits)):
        return Shrunk(transcript)
    state = _State.of(transcript, limits)
    old = list(steps(transcript.messages))[:-FRESH_STEPS]
    state.shorten(results_of(transcript.messages, old), 0, shortened)
    return state.outcome()


def _is_crowded(transcript: Transcript, limits: Limits) -> bool:
    return weigh(transcript, limits).estimate * 100 > limits.window * CROWDED_PERCENT


def shortened(text: str) -> str:
    """Beginning and end of a long text; a shorter one as it is."""
    notice = LEFT_OUT.format(count=len(text) - HEAD - TAIL)
    cut = f"{text[:HEAD]}\n{notice}\n{text[-TAIL:]}"
    return cut if len(cut) < len(text) else text


def left_out(text: str) -> str:
    notice = LEFT_OUT.format(count=len(text))
    return notice if len(notice) < len(text) else text


def _unmeasured(shrunk: Shrunk) -> Shrunk:
    """What was recorded before counts what is left out now, so the size is estimated."""
    if not shrunk.is_changed:
        return shrunk
    left = tuple(replace(message, made_after_boundary=False) for message in shrunk.transcript.messages)
    return replace(shrunk, transcript=replace(shrunk.transcript, messages=left, measured_offset=0))


class _State:
    """Messages of one request on their way down, with what all of it is estimated at (without the ratio)."""

    def __init__(self, transcript: Transcript, size: float, sizes: list[int]) -> None:
        self.transcript = transcript
        self.messages: list[Message | None] = list(transcript.messages)
        self.size, self.sizes = size, sizes
        self.resent = transcript.resent
        self.shortened_ids: list[int] = []
        self.dropped_ids: list[int] = []

    @classmethod
    def of(cls, transcript: Transcript, limits: Limits) -> _State:
        weight = weigh(transcript, limits)
        answering = first_unanswered(transcript.messages)
        sizes = [
            0 if message.is_waiting and index > answering else size
            for index, (message, size) in enumerate(zip(transcript.messages, weight.messages, strict=True))
        ]
        unsent = sum(weight.messages) - sum(sizes)
        return cls(transcript, weight.estimate / limits.ratio - unsent, sizes)

    def shorten(self, indices: Iterable[int], room: float, cut: Callable[[str], str]) -> None:
        for index in indices:
            message = self.messages[index]
            if message is None or self.size <= room:
                continue
            smaller = replace(message, content=cut(message.content))
            if smaller.content != message.content:
                self.messages[index] = smaller
                self._resize(index, estimate_message(smaller))
                self.shortened_ids.append(message.id)

    def drop(self, units: Iterable[range], room: float) -> None:
        for unit in units:
            if self.size <= room:
                return
            for index in unit:
                message = self.messages[index]
                if message is not None:
                    self.messages[index] = None
                    self._resize(index, 0)
                    self.dropped_ids.append(message.id)
            self._drop_resent()

    def outcome(self) -> Shrunk:
        left = tuple(message for message in self.messages if message is not None)
        dropped = set(self.dropped_ids)
        return Shrunk(
            replace(self.transcript, messages=left, resent=self.resent),
            tuple(name for name in self.shortened_ids if name not in dropped),
            tuple(self.dropped_ids),
        )

    def _resize(self, index: int, size: int) -> None:
        self.size += size - self.sizes[index]
        self.sizes[index] = size

    def _drop_resent(self) -> None:
        """The request of a turn goes with the last of its steps."""
        if self.resent is None:
            return
        left = next((message for message in self.messages if message is not None), None)
        if left is not None and left.role == "user":
            self.size -= estimate_message(self.resent)
            self.dropped_ids.append(self.resent.id)
            self.resent = None
