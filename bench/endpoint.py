"""The scripted endpoint as a process of its own, so that its work isn't counted: `python -m bench.endpoint [URL]`.

With a URL it also hands out a copy of the page there, which then has this endpoint for its server.

The last message says what it writes: "write 2000 at 100" is so many tokens, so many a second. To one who talks at
temperature 0 it answers at length, and its summaries (they are asked for warmer) keep nothing of what was said.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from tests.live import ROOT
from tests.scripted import Play, Script, ScriptedEndpoint, counted_usage, document, done, finish, head, text

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
NAMED_FILE = re.compile(r"""["'](?:\./)?(_app/[\w./-]+)""")
KEPT_HEADERS = ("Content-Type", "Content-Encoding")


def order(tokens: int, *, rate: int) -> str:
    return f"write {tokens} at {rate}"


def stamps(data: bytes) -> list[float]:
    """Seconds on the shared clock at which the stamps in a piece of a stream or a page were written."""
    return [int(found) / 1_000_000 for found in STAMP.findall(data)]


def now() -> float:
    return time.clock_gettime(time.CLOCK_MONOTONIC)


@contextmanager
def endpoint(*, page_of: str = "") -> Iterator[str]:
    """Its base URL; it ends with the block, and with this process however that ends."""
    command = [sys.executable, "-m", "bench.endpoint", *filter(None, [page_of])]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def answer(payload: dict[str, Any]) -> Script:
    asked = ORDER.search(_words(payload["messages"][-1]["content"]))
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


def _words(content: Any) -> str:
    """Of a message's content, which may come in parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def token(number: int) -> str:
    word = PROSE[number % len(PROSE)] if number % STAMPED_EVERY else f"t{int(now() * 1_000_000)}t"
    return word + ("\n\n" if number % WORDS_A_PARAGRAPH == WORDS_A_PARAGRAPH - 1 else " ")


def copied(page: str) -> dict[str, Script]:
    """A page, the files that it names, and what it asks of its server before anything else; as they are on the wire."""
    kept = {"/": _fetched(page)}
    whole = gzip.decompress(kept["/"][0]) if kept["/"][1].get("Content-Encoding") == "gzip" else kept["/"][0]
    for path in {*NAMED_FILE.findall(whole.decode()), "props", "v1/models"}:
        kept[f"/{path}"] = _fetched(f"{page.rstrip('/')}/{path}")
    return {path: document(body, content_type=None, headers=headers) for path, (body, headers) in kept.items()}


def _fetched(url: str) -> tuple[bytes, dict[str, str]]:
    asked = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    while True:
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return answer.read(), {name: answer.headers[name] for name in KEPT_HEADERS if answer.headers[name]}
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:  # it is still loading its model
                raise
            time.sleep(0.1)


async def serve(page_of: str = "") -> None:
    async with ScriptedEndpoint() as scripted:
        scripted.always(answer)
        scripted.pages.update(copied(page_of) if page_of else {})
        print(scripted.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
