"""Takes over what a dead process left: its runs become "interrupted", their text is kept, nothing stays stuck.

Whoever could not prolong a lease because the database was away isn't dead: once it is back, all have a lease's time.
Beside that it sends the message that a dead process should have sent, erases what was deleted an hour ago, and deletes
temporary chats, rows of the audit log and sessions whose time is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import timedelta
from itertools import count
from uuid import UUID

from django.db import connection

from chatapp import auditing, events, leases, sign_ins
from chatapp.database import AWAY, in_database
from chatapp.history import compactions, deleting, queueing, temporary, turns
from chatapp.history.compactions import Ending
from chatapp.models import Compaction, Run

log = logging.getLogger("foldline.runs")

SECONDS_BETWEEN = 4
SECONDS_AT_ONCE = 4
# Every so many looks what was deleted an hour ago is erased; a minute more is no matter. The first look of a process
# takes all there is, later ones what became due within a day.
LOOKS_BETWEEN_ERASURES = 15
DUE_WITHIN = timedelta(days=1)


async def reap_for_ever(begin_next: Callable[[UUID], Awaitable[object]], writing: Collection[int]) -> None:
    """`begin_next` sends the next waiting message of a chat; `writing`: the ids of this process's own runs."""
    blind_until = 0.0
    for look in count():
        began = time.monotonic()
        try:
            if began > blind_until:
                await _tell(await in_database(_reap_at_once, tuple(writing), began))
            if look % LOOKS_BETWEEN_ERASURES == 0:
                recent = DUE_WITHIN if look else None
                for chat_id in await in_database(deleting.erase_deleted, due_within=recent):
                    await events.publish(chat_id, events.Changed())
                await in_database(auditing.prune)
                await in_database(sign_ins.forget_ended)
            await _tell(await in_database(temporary.delete_expired))
            for chat_id in await in_database(queueing.due):
                await begin_next(chat_id)
        except AWAY as error:
            log.warning("The reaper could not look (%s); it will again.", error)
            blind_until = time.monotonic() + turns.LEASE.total_seconds()
        except Exception:
            log.exception("The reaper could not look; it will again.")
        if time.monotonic() - began > SECONDS_AT_ONCE:  # it has waited for the database, as all others have
            blind_until = time.monotonic() + turns.LEASE.total_seconds()
        await asyncio.sleep(SECONDS_BETWEEN)


async def _tell(changed: Iterable[tuple[UUID, int]]) -> None:
    for chat_id, owner_id in changed:
        await events.publish_listed(chat_id, owner_id)


def _reap_at_once(writing: Collection[int], asked: float) -> list[tuple[UUID, int]]:
    """Nothing where a connection was waited for since `asked`: nobody else could prolong a lease meanwhile."""
    connection.ensure_connection()
    return reap(writing) if time.monotonic() - asked < SECONDS_AT_ONCE else []


def reap(writing: Collection[int] = ()) -> list[tuple[UUID, int]]:
    """Interrupt every run and fail every compaction whose owner is dead; their chats, and whose those are.

    `writing`: runs that are written here and go on, however late this process is (a laptop that slept).
    """
    maybe, owned = leases.maybe_dead(), "chat"
    runs = [
        run
        for run in Run.objects.live().filter(maybe).exclude(pk__in=list(writing)).select_related(owned)
        if leases.is_dead(run.owner, run.lease_until)
    ]
    dead = [
        row
        for row in Compaction.objects.live().filter(maybe).select_related(owned)
        if leases.is_dead(row.owner, row.lease_until)
    ]
    return take_over(runs, dead)


def take_over(runs: Iterable[Run], folding: Iterable[Compaction]) -> list[tuple[UUID, int]]:
    """Runs are interrupted, compactions fail; their chats, and whose those are."""
    return [(run.chat_id, run.chat.owner_id) for run in runs if turns.interrupt_run(run)] + [
        (row.chat_id, row.chat.owner_id)
        for row in folding
        if compactions.end_compaction(compaction_id=row.pk, ending=Ending(Compaction.Status.FAILED, "interrupted"))
    ]
