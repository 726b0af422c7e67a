"""How long until Foldline answers, and the memory it holds while nobody is there."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.processes import children, cpu_seconds, resident_bytes, wait_until_quiet
from bench.table import Line, mebibytes
from tests.live import LiveServer

SECONDS_AT_REST = 10


def measure() -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        server = LiveServer(Path(folder) / "data")
        try:
            yield Line(
                "start to 200 of /readyz/, new data folder",
                _start(server),
                "packages are there; database made, static files compressed",
            )
            server.stop()
            yield Line("start to 200 of /readyz/, second time", _start(server), "goal: 3 s")
            yield from _rest(server)
        finally:
            server.stop()


def _start(server: LiveServer) -> str:
    began = time.perf_counter()
    server.start()
    return f"{time.perf_counter() - began:.1f} s"


def _rest(server: LiveServer) -> Iterator[Line]:
    engines = children(server.pid)
    wait_until_quiet(server.pid, *engines)
    yield Line("memory at rest, web process", mebibytes(resident_bytes(server.pid)), "resident; goal: under 200 MB")
    for engine in engines:
        remark = "resident, with its model's file; none with OPENAI_BASE_URL"
        yield Line("memory at rest, demo engine", mebibytes(resident_bytes(engine)), remark)
    before = cpu_seconds(server.pid)
    time.sleep(SECONDS_AT_REST)
    used = (cpu_seconds(server.pid) - before) / SECONDS_AT_REST
    yield Line(
        "processor at rest, web process", f"{used:.2%}", f"of one core, over {SECONDS_AT_REST} s (looks for dead runs)"
    )
