"""The process's side of runs: it starts, stops and watches their tasks, and hears what other processes ask of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import close_old_connections, connection

from chatapp import compacting, events, importing, metrics, passes
from chatapp.database import patiently
from chatapp.history import chats, queueing
from chatapp.history.turns import Turn
from chatapp.leases import PROCESS
from chatapp.models import Compaction, Run
from chatapp.runs import generation
from chatapp.runs.live import LiveRun, Read
from chatapp.runs.reaper import reap_for_ever

log = logging.getLogger("foldline.runs")

# All threads share one interpreter: a command's answer is rendered while the endpoint reads, not while it is asked.
SECONDS_TO_GIVE_WAY = 0.025

_loop: asyncio.AbstractEventLoop | None = None
_live: dict[int, LiveRun] = {}
_tasks: dict[int, asyncio.Task[None]] = {}
_background: set[asyncio.Task[Any]] = set()

metrics.live_runs.set_function(lambda: len(_live))


def start_up(loop: asyncio.AbstractEventLoop) -> None:
    """Once a process: remember its loop, take dead runs over, listen to other processes."""
    global _loop  # noqa: PLW0603 (one loop a process, known only once it runs)
    if _loop is loop:
        return
    _loop = loop
    events.use_loop(loop)
    importing.use_loop(loop)
    reaping, hearing = reap_for_ever(begin_next, _live.keys()), events.hear_words(_hear)
    for work in (reaping, hearing, importing.work_for_ever(), passes.watch_for_ever()):
        loop.call_soon_threadsafe(_keep, work)


def start(turn: Turn, *, insists: bool = False, read: Read | None = None) -> None:
    """Begin to write, or to go on in a reply that broke off; from a worker thread, after the turn's transaction.

    Returns once the endpoint is asked, or a moment later: whatever the caller does next takes its turns with that.
    """
    if turn.run is None:
        return
    live = _live_run(turn, turn.run)
    live.insists, live.begun, live.read = insists, turn, read
    _on_loop(_open, live)
    if connection.vendor != "sqlite":  # nobody waits for one of the pool meanwhile
        close_old_connections()
    live.has_asked.wait(SECONDS_TO_GIVE_WAY)
    events.wake_list(live.owner_id)


def start_compaction(compaction: Compaction) -> None:
    """Begin a compaction that a person asked for; from a worker thread."""
    _on_loop(_keep, compacting.compact_and_warm(compaction.pk, compaction.chat_id))


def stop(run: Run) -> None:
    """Stop it wherever it is being written; the row says so already."""
    _on_loop(_stop_or_pass_on, run.pk, run.owner)


def cancel_compaction(compaction_id: int) -> None:
    """Wake its task here; elsewhere the row is seen within a second."""
    _on_loop(compacting.cancel_here, compaction_id)


def show_whole(run: Run) -> None:
    """Ask the process that writes it for all of it; the frame comes to every listener."""
    _on_loop(_show_or_pass_on, run.pk, run.owner)


def live_text(reply_id: int) -> tuple[str, str] | None:
    """Text and reasoning so far of a reply that this very process is writing; None elsewhere."""
    for live in tuple(_live.values()):
        if live.reply_id == reply_id:
            return live.text, live.reasoning
    return None


async def shut_down() -> None:
    """Orderly end: every text so far is stored, every run closed as interrupted."""
    tasks = [*_tasks.values(), *_background]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _on_loop(function: Any, *args: Any) -> None:
    if _loop is None:
        raise RuntimeError("No event loop: chatapp.runs.start_up() has not been called.")
    _loop.call_soon_threadsafe(function, *args)


def _open(live: LiveRun) -> None:
    _live[live.run_id] = live
    task = asyncio.get_running_loop().create_task(_write(live), name=f"run {live.run_id}")
    _tasks[live.run_id] = task
    task.add_done_callback(lambda _: _close(live))


async def _write(live: LiveRun) -> None:
    """The reply, then the message that has waited for its end; the idle moment is for nobody's waiting."""
    is_complete = await generation.write_reply(live)
    owes_title = live.owes_title or (is_complete and await patiently(chats.wants_title, live.chat_id))
    if not await begin_next(live.chat_id, owes_title=owes_title) and is_complete:
        await generation.use_idle_moment(live.chat_id, owes_title=owes_title)


async def begin_next(chat_id: UUID, *, owes_title: bool = False) -> bool:
    """Send the message whose time has come; False where there is none."""
    with suppress(ObjectDoesNotExist):  # deleted meanwhile
        turn = await patiently(queueing.begin_next, chat_id=chat_id, by=PROCESS)
        if turn and turn.run:
            live = _live_run(turn, turn.run)
            live.owes_title = owes_title
            _open(live)
            await events.publish_listed(chat_id, live.owner_id)
            return True
    return False


def _live_run(turn: Turn, run: Run) -> LiveRun:
    return LiveRun(run.pk, run.attempt, run.chat_id, turn.chat.owner_id, run.reply_id, turn.continued)


def _close(live: LiveRun) -> None:
    live.has_asked.set()
    _live.pop(live.run_id, None)
    _tasks.pop(live.run_id, None)


def _keep(work: Coroutine[Any, Any, Any]) -> None:
    """Hold a reference while it runs: the loop itself keeps only weak ones."""
    task = asyncio.get_running_loop().create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


def _stop_or_pass_on(run_id: int, owner: str) -> None:
    if live := _live.get(run_id):
        live.stopping.set()
    else:
        _keep(events.send_to_process(owner, word="stop", run=run_id))


def _show_or_pass_on(run_id: int, owner: str) -> None:
    if live := _live.get(run_id):
        live.show_whole()
    else:
        _keep(events.send_to_process(owner, word="show", run=run_id))


def _hear(message: dict[str, Any]) -> None:
    live = _live.get(message["run"])
    if live is None:
        return
    if message["word"] == "stop":
        live.stopping.set()
    elif message["word"] == "show":
        live.show_whole()
