"""Steps of tools, and what else may leave a request as a whole, so that no call is parted from its results (B4, B7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from compaction.budget import Limits, measure
from compaction.transcript import Message, Transcript, first_unanswered, turn_starts


def steps(messages: tuple[Message, ...], start: int = 0, end: int | None = None) -> Iterator[range]:
    """Indices of each reply that calls tools, with the results behind it."""
    end = len(messages) if end is None else end
    while start < end:
        after = start + 1
        while after < end and messages[after].role == "tool":
            after += 1
        if messages[start].tool_calls:
            yield range(start, after)
        start = after


def results_of(messages: tuple[Message, ...], of: Iterable[range]) -> list[int]:
    return [index for step in of for index in step if messages[index].role == "tool"]


def units(messages: tuple[Message, ...]) -> Iterator[range]:
    """What may be left out, oldest first: whole turns before the last, then all but the newest step of the last.

    The last turn is the first unanswered one with all that follows it, or else the newest.
    """
    starts = turn_starts(messages)
    last = first_unanswered(messages)
    if last == len(messages):
        last = max(starts, default=0)
    for start, end in pairwise(sorted({0, *starts, last})):
        if end <= last:
            yield range(start, end)
    end = min((start for start in starts if start > last), default=len(messages))
    yield from list(steps(messages, last, end))[:-1]


def is_between_steps(messages: tuple[Message, ...]) -> bool:
    """Whether the newest step has all its results and the model is to be asked again."""
    newest = max(steps(messages), key=lambda step: step.start, default=range(0))
    if not newest or newest.stop != len(messages):
        return False
    called = {call.id for call in messages[newest.start].tool_calls}
    return called <= {messages[index].tool_call_id for index in results_of(messages, [newest])}


def is_due_between_steps(transcript: Transcript, limits: Limits) -> bool:
    """Whether compaction comes before the next step of a turn, by the same meter as before a send (rule B4)."""
    return is_between_steps(transcript.messages) and measure(transcript, limits).over_trigger
