"""The one way from async code to the database: whole synchronous functions, never thread-sensitive."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, close_old_connections, connection
from psycopg.errors import IdleInTransactionSessionTimeout

log = logging.getLogger("foldline.database")

P = ParamSpec("P")
T = TypeVar("T")

# It is away, its disk is full, or no connection is free: nothing was changed, and the same may work in a moment.
AWAY = (OperationalError, InterfaceError)
LONGEST_PAUSE_SECONDS = 4.0

# Threads of their own: while they wait for a database that is away, replies are still rendered in the loop's.
_threads = ThreadPoolExecutor(settings.DATABASE_CONNECTIONS, thread_name_prefix="database")


def is_away(error: BaseException | None) -> bool:
    """AWAY, or a transaction that the server ended as nothing came in it: this process was stopped, or cut off."""
    return isinstance(error, AWAY) or isinstance(getattr(error, "__cause__", None), IdleInTransactionSessionTimeout)


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a worker thread with a connection of its own.

    PostgreSQL's goes back to the pool afterwards; SQLite's stays with its thread, as opening one each time made the
    first token of a reply 35 ms later. Thread-sensitive calls share one thread outside requests: 20 × 0.1 s took
    2.29 s there, 0.56 s here.
    """

    def work() -> T:
        if connection.vendor == "sqlite":
            return function(*args, **kwargs)
        close_old_connections()
        try:
            return function(*args, **kwargs)
        except InternalError as error:
            if is_away(error):
                raise OperationalError(str(error)) from error
            raise
        finally:
            close_old_connections()

    return await sync_to_async(work, thread_sensitive=False, executor=_threads)()


async def patiently(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`in_database`, again and again until the database can be used: for what nobody would do a second time.

    Where a connection breaks in the middle of a commit it may have been done already, and is done twice.
    """
    pause = 0.5
    while True:
        try:
            return await in_database(function, *args, **kwargs)
        except AWAY as error:
            log.warning("The database can't be used (%s); it is tried again.", error)
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 (so that not all come at once)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
