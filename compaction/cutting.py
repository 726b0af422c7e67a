"""Where the live part of a chat may start, and where it should (rules C1 to C3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from compaction.transcript import Message, first_unanswered, last_complete_turn, turn_starts


def safe_cuts(messages: tuple[Message, ...]) -> tuple[int, ...]:
    """Indices at which the live part may start: user messages, up to the first unanswered one.

    A tool call and its results lie within one turn, so they are never parted.
    """
    end = first_unanswered(messages)
    return tuple(index for index in turn_starts(messages) if 0 < index <= end)


def step_cuts(messages: tuple[Message, ...]) -> tuple[int, ...]:
    """Indices between whole steps of the last turn's tool loop: behind the last result, before the next reply.

    Whoever cuts there sends the turn's request again, verbatim, before the tail (rule C1, second half).
    """
    start = max(turn_starts(messages), default=0)
    if any(message.is_waiting for message in messages[start:]):
        return ()
    return tuple(_whole_steps(messages, start))


def choose_cut(messages: tuple[Message, ...], tails: tuple[int, ...], *, tail_tokens: float) -> int | None:
    """The earliest safe cut whose tail (of `tail_sizes`) is within `tail_tokens`; the last complete turn stays (C3).

    None where there is nothing before that turn, or no turn is complete.
    """
    latest = last_complete_turn(messages)
    if latest is None:
        return None
    # All of them are safe: that turn lies before the first unanswered one.
    cuts = [start for start in turn_starts(messages[: latest + 1]) if start > 0]
    if not cuts:
        return None
    return next((cut for cut in cuts if tails[cut] <= tail_tokens), cuts[-1])


def tail_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """For each index the size of everything from there to the end."""
    return tuple(accumulate(reversed(sizes)))[::-1]


def _whole_steps(messages: tuple[Message, ...], start: int) -> Iterator[int]:
    owed: set[str] = set()
    for index in range(start, len(messages)):
        message = messages[index]
        if message.role == "tool":
            owed.discard(message.tool_call_id)
            continue
        if index > start and messages[index - 1].role == "tool" and not owed:
            yield index
        owed = {call.id for call in message.tool_calls}
