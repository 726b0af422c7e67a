"""What the browser visits: one process on SQLite, or several on PostgreSQL and Valkey behind a proxy (--shape=many)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dj_database_url

from tests import proxy
from tests.live import LiveServer, free_port
from tests.with_servers import postgres, valkey


@dataclass(frozen=True)
class Served:
    """Where it is, Django's settings for its database, and its processes."""

    url: str
    database: dict[str, Any]
    processes: list[LiveServer]


@contextmanager
def one(folder: Path, environment: dict[str, str]) -> Iterator[Served]:
    with _running(LiveServer(folder / "data", environment)) as process:
        yield Served(process.url, {"NAME": str(process.data / "foldline.sqlite3")}, [process])


@contextmanager
def many(folder: Path, environment: dict[str, str], *, count: int = 2) -> Iterator[Served]:
    """Each request of a page reaches the next process, by round robin."""
    with ExitStack() as stack:
        database_url, redis_url = stack.enter_context(postgres()), stack.enter_context(valkey())
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = environment | {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "PUBLIC_URL": url}
        processes = [stack.enter_context(_running(LiveServer(folder / "data", environment))) for _ in range(count)]
        stack.enter_context(proxy.proxy(port, [process.port for process in processes], folder / "proxy"))
        yield Served(url, dict(dj_database_url.parse(database_url)), processes)


@contextmanager
def _running(server: LiveServer) -> Iterator[LiveServer]:
    try:
        yield server.start()
    finally:
        server.stop()


SHAPES: dict[str, Callable[[Path, dict[str, str]], AbstractContextManager[Served]]] = {"one": one, "many": many}


def describe(shape: str) -> str:
    if shape == "one":
        return "one process on SQLite"
    return f"two processes on PostgreSQL and Valkey behind {proxy.describe()}"
