"""The scripted endpoint as a process of its own, so that its work isn't counted: `python -m bench.endpoint`.

The last message says what it writes: "write 2000 at 100" is so many tokens, so many a second. To one who talks at
temperature 0 it answers at length, and its summaries (they are asked for warmer) keep nothing of what was said.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.live import ROOT
from tests.scripted import Play, Script, ScriptedEndpoint, counted_usage, done, finish, head, text

ORDER = re.compile(r"write (\d+) at (\d+)$")
STAMPED_EVERY = 10
# Such a token says when it was written, on the clock that all processes of a machine share.
STAMP = re.compile(rb"t(\d{9,})t")
TEXT = (
    "The **tide** turned at noon , and `the pier` stood dry . - first a rope - then a [lamp](https://example.org) "
    "and a word about weather that nobody had asked for ."
)
PROSE = TEXT.split()
SUMMARY = "They spoke about what has to be done before the fair, one matter after the other, and went on from there."
WORDS_A_PARAGRAPH = 60


def order(tokens: int, *, rate: int) -> str:
    return f"write {tokens} at {rate}"


def stamps(data: bytes) -> list[float]:
    """Seconds on the shared clock at which the stamps in a piece of a stream or a page were written."""
    return [int(found) / 1_000_000 for found in STAMP.findall(data)]


def now() -> float:
    return time.clock_gettime(time.CLOCK_MONOTONIC)


@contextmanager
def endpoint() -> Iterator[str]:
    """Its base URL; it ends with the block, and with this process however that ends."""
    command = [sys.executable, "-m", "bench.endpoint"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def answer(payload: dict[str, Any]) -> Script:
    asked = ORDER.search(str(payload["messages"][-1]["content"]))
    if asked is None:
        warmth = payload.get("temperature")
        said = "A title" if warmth is None else SUMMARY if warmth else " ".join(PROSE * 10)
        return [head(), text(said), finish(), counted_usage(len(said) // 4), done()]
    tokens, rate = int(asked[1]), int(asked[2])

    async def write(play: Play) -> None:
        begin = now()
        for number in range(tokens):
            await asyncio.sleep(begin + number / rate - now())
            await play.chunk({"content": token(number)})

    return [head(), write, finish(), counted_usage(tokens), done()]


def token(number: int) -> str:
    word = PROSE[number % len(PROSE)] if number % STAMPED_EVERY else f"t{int(now() * 1_000_000)}t"
    return word + ("\n\n" if number % WORDS_A_PARAGRAPH == WORDS_A_PARAGRAPH - 1 else " ")


async def serve() -> None:
    async with ScriptedEndpoint() as scripted:
        scripted.always(answer)
        print(scripted.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
