"""A chat's page by the number of its messages: bytes, and the time until its last byte."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from bench.processes import cpu_seconds
from bench.site import Site
from bench.size import sized
from bench.table import Line, kilobytes, milliseconds, timed

TIMES = sized(15, 5)
KINDS = {
    "measured": "usage recorded",
    "estimated": "no usage, window unknown",
    "folded": "all but 20 behind the divider",
}


def measure(site: Site) -> Iterator[Line]:
    site.get("short")  # templates are read once a process
    for name in site.chats:
        length, _, kind = name.partition(" ")
        if kind in KINDS:
            yield _page(site, name, f"page of {int(length):,} messages, {KINDS[kind]}")


def _page(site: Site, name: str, what: str) -> Line:
    response, body, first = site.get(name, **{"Accept-Encoding": "gzip"})
    before = cpu_seconds(site.pid)
    seconds = [site.get(name)[2] for _ in range(TIMES)]
    cpu = (cpu_seconds(site.pid) - before) / TIMES
    compressed = kilobytes(len(gzip.compress(body, 6)))
    if response.headers["Content-Encoding"]:
        size = f"compressed from {kilobytes(len(gzip.decompress(body)))}"
    else:
        size = f"not compressed ({compressed} by a proxy's gzip)"
    remark = f"{kilobytes(len(body))}, {size}; processor {milliseconds(cpu)}; first time {milliseconds(first)}"
    return timed(what, seconds, remark)
