"""The pure core over a very long chat: what one look at the meter, one plan and one request cost the processor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bench.size import sized
from bench.table import Line, median, milliseconds
from compaction.budget import Limits
from compaction.budget import measure as weigh
from compaction.planning import Plan, plan
from compaction.request import assemble
from compaction.transcript import Message, Transcript

# Messages, and how often each of them says its sentence.
CHATS = sized(((10_000, 8), (100_000, 1)), ((10_000, 8),))
TIMES = 3
TEXT = "The harbour office wants {n} boats moored before the storm, and somebody has to tell the crews about it. "


def measure() -> Iterator[Line]:
    for length, sentences in CHATS:
        yield from _chat(length, sentences)


def _chat(length: int, sentences: int) -> Iterator[Line]:
    messages = _messages(length, TEXT * sentences)
    transcript = Transcript(system_prompt="Be brief.", summary="", messages=messages, model="scripted")
    limits = Limits(window=8_000_000, threshold_percent=85, tail_percent=25, summary_percent=5)
    first = _time(lambda: weigh(transcript, limits), times=1)
    planned = plan(transcript, limits)
    assert isinstance(planned, Plan)
    size = f"{planned.size_before:,} tokens by estimate"
    yield Line(f"measuring {length:,} messages for the first time", first, f"{size}, no usage recorded")
    again = _time(lambda: weigh(transcript, limits))
    yield Line(f"measuring {length:,} messages", again, f"median of {TIMES}, as below: each text's estimate is known")
    yield Line(
        f"planning one compaction of {length:,}",
        _time(lambda: plan(transcript, limits)),
        f"archives {len(planned.archived):,}",
    )
    yield Line(f"assembling the request of {length:,}", _time(lambda: assemble(transcript)), "all of them live")


def _messages(length: int, text: str) -> tuple[Message, ...]:
    return tuple(Message(n + 1, n, "assistant" if n % 2 else "user", text.format(n=n)) for n in range(length))


def _time(work: Callable[[], object], *, times: int = TIMES) -> str:
    seconds = []
    for _ in range(times):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return milliseconds(median(seconds))
