"""While a reply is written: frames to whoever watches, text and heartbeat to its row."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.core.exceptions import ObjectDoesNotExist
from django.db import Error

from chatapp import events
from chatapp.database import in_database
from chatapp.history import turns
from chatapp.history.errors import Fenced
from chatapp.runs.live import SECONDS_BETWEEN_FRAMES, LiveRun

log = logging.getLogger("foldline.runs")

SECONDS_BETWEEN_SAVES = 1.0
# The run was taken over, or its chat was deleted meanwhile: there is nothing left to write to.
GIVEN_UP = (Fenced, ObjectDoesNotExist)


@asynccontextmanager
async def kept_up(live: LiveRun) -> AsyncIterator[None]:
    """While the body runs: frames to the listeners, text and heartbeat to the row."""
    keeping = [asyncio.ensure_future(_show(live)), asyncio.ensure_future(_save(live))]
    try:
        yield
    finally:
        for task in keeping:
            task.cancel()
        for ending in await asyncio.gather(*keeping, return_exceptions=True):
            if isinstance(ending, Exception):
                log.error("A run was not kept up.", exc_info=ending)


async def _show(live: LiveRun) -> None:
    """At most ten frames a second, fewer when one is costly to render."""
    clock = asyncio.get_running_loop().time
    while True:
        await live.changed.wait()
        live.changed.clear()
        if not events.has_listeners(live.chat_id):
            live.next_frame_at = clock() + SECONDS_BETWEEN_FRAMES
            continue
        live.next_frame_at = math.inf
        began = time.perf_counter()
        frame = await asyncio.to_thread(live.next_frame)
        cost = time.perf_counter() - began
        if frame:
            await events.publish(live.chat_id, frame)
        pause = max(SECONDS_BETWEEN_FRAMES, 5 * cost)
        live.next_frame_at = clock() + pause
        await asyncio.sleep(pause)


async def _save(live: LiveRun) -> None:
    """The text so far at most once a second; the heartbeat with it, whether or not there is text."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_SAVES)
        try:
            stop = await in_database(
                turns.save_partial,
                run_id=live.run_id,
                attempt=live.attempt,
                content=live.text,
                reasoning=live.reasoning,
            )
        except GIVEN_UP:
            stop = True
        except Error as error:  # away, or busy for a moment: the next second tries again
            log.warning("The text so far could not be stored: %s", error)
            continue
        if stop:
            live.stopping.set()
