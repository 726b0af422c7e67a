"""How long until Foldline answers, and the memory it holds while nobody is there."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.peers import wait_for_page
from bench.processes import children, cpu_seconds, resident_bytes, wait_until_quiet
from bench.size import sized
from bench.table import Line, measured
from tests.live import LiveServer

SECONDS_AT_REST = sized(10, 5)
STARTS = sized(5, 2)


def measure() -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        server = LiveServer(Path(folder) / "data")
        try:
            new = _start(server)
            ready, page = zip(*(_start(server) for _ in range(STARTS)), strict=True)
            made = "packages are there; database made, static files compressed"
            yield measured("start to 200 of /readyz/, new data folder", new[:1], "s", made)
            yield measured("start to the first page, new data folder", new[1:], "s", made)
            yield measured("start to 200 of /readyz/, later times", ready, "s", "goal: 3 s")
            yield measured("start to the first page, later times", page, "s", "goal: 3 s")
            yield from _rest(server)
        finally:
            server.stop()


def _start(server: LiveServer) -> tuple[float, float]:
    """Seconds until it says that it is ready, and until its first page was read."""
    if server.process:
        server.stop()
    began = time.perf_counter()
    server.start()
    ready = time.perf_counter() - began
    assert server.process
    wait_for_page(server.url, server.process)
    return ready, time.perf_counter() - began


def _rest(server: LiveServer) -> Iterator[Line]:
    engines = children(server.pid)
    wait_until_quiet(server.pid, *engines)
    yield measured(
        "memory at rest, web process", [resident_bytes(server.pid) / 2**20], "MiB", "resident; goal: under 150"
    )
    for engine in engines:
        remark = "resident, with its model's file; none with OPENAI_BASE_URL"
        yield measured("memory at rest, demo engine", [resident_bytes(engine) / 2**20], "MiB", remark)
    before = cpu_seconds(server.pid)
    time.sleep(SECONDS_AT_REST)
    used = (cpu_seconds(server.pid) - before) / SECONDS_AT_REST
    yield Line(
        "processor at rest, web process", f"{used:.2%}", f"of one core, over {SECONDS_AT_REST} s (looks for dead runs)"
    )
