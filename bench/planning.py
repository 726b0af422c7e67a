"""The pure core over a very long chat: what one look at the meter, one plan and one request cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bench.table import Line, median, milliseconds
from compaction.budget import Limits
from compaction.budget import measure as weigh
from compaction.planning import Plan, plan
from compaction.request import assemble
from compaction.transcript import Message, Transcript

LENGTH = 10_000
TIMES = 5
TEXT = "The harbour office wants {n} boats moored before the storm, and somebody has to tell the crews about it. " * 8


def measure() -> Iterator[Line]:
    transcript = Transcript(system_prompt="Be brief.", summary="", messages=_messages(), model="scripted")
    limits = Limits(window=4_000_000, threshold_percent=85, tail_percent=25, summary_percent=5)
    planned = plan(transcript, limits)
    assert isinstance(planned, Plan)
    size = f"{LENGTH:,} messages, {planned.size_before:,} tokens by estimate"
    yield Line("measuring", _time(lambda: weigh(transcript, limits)), f"median of {TIMES}; {size}, no usage recorded")
    yield Line(
        "planning one compaction", _time(lambda: plan(transcript, limits)), f"archives {len(planned.archived):,}"
    )
    yield Line("assembling the request", _time(lambda: assemble(transcript)), "all of them live")


def _messages() -> tuple[Message, ...]:
    return tuple(Message(n + 1, n, "assistant" if n % 2 else "user", TEXT.format(n=n)) for n in range(LENGTH))


def _time(work: Callable[[], object]) -> str:
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return milliseconds(median(seconds))
