"""The process's side of imports: one at a time, in a worker thread, a slice of work and then a breath for the rest."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator

from chatapp.database import AWAY, in_database
from chatapp.history import importing
from chatapp.history.errors import Fenced
from chatapp.history.importing import Work
from chatapp.importing.files import discard_ended, discard_if_ended
from chatapp.importing.steps import steps
from chatapp.leases import PROCESS

log = logging.getLogger("foldline.importing")

SECONDS_BETWEEN_LOOKS = 5
# Work is done in slices of this length, and after each as long a share of it is left to pages and replies.
SLICE_SECONDS = 0.05
BREATH = 0.5
# After so long another person's file has its turn; a large one shouldn't keep a small one waiting for an hour.
TURN_SECONDS = 20

_loop: asyncio.AbstractEventLoop | None = None
_woken: asyncio.Event | None = None


def use_loop(loop: asyncio.AbstractEventLoop) -> None:
    global _loop, _woken
    _loop, _woken = loop, asyncio.Event()


def wake() -> None:
    """A file waits; from a worker thread. Whoever doesn't hear it looks within seconds."""
    if _loop is not None and _woken is not None and _loop.is_running():
        _loop.call_soon_threadsafe(_woken.set)


async def work_for_ever() -> None:
    while True:
        try:
            await in_database(_tidy)
            while work := await in_database(importing.claim, by=PROCESS):
                await _work(work)
        except AWAY as error:
            log.warning("No import can be worked on (%s); it goes on later.", error)
        except Exception:
            log.exception("An import broke off; it goes on when its lease is over.")
        assert _woken is not None
        try:
            async with asyncio.timeout(SECONDS_BETWEEN_LOOKS):
                await _woken.wait()
        except TimeoutError:
            pass
        _woken.clear()


def work_off() -> None:
    """All that waits, at once and in this thread."""
    while work := importing.claim(by=PROCESS):
        running = steps(work)
        while _slice(work, running):
            pass


async def _work(work: Work) -> None:
    running = steps(work)
    turn_ends = time.monotonic() + TURN_SECONDS
    while True:
        began = time.perf_counter()
        if not await in_database(_slice, work, running):
            return
        if time.monotonic() > turn_ends and await in_database(importing.give_way, work=work):
            running.close()
            return
        await asyncio.sleep(BREATH * (time.perf_counter() - began))


def _slice(work: Work, running: Generator[None]) -> bool:
    """Some steps; False when it is over."""
    end = time.perf_counter() + SLICE_SECONDS
    try:
        for _ in running:
            if time.perf_counter() >= end:
                return True
    except Fenced:
        pass
    discard_if_ended(work.import_id)
    return False


def _tidy() -> None:
    importing.give_up_stale()
    discard_ended()
