"""The life of one compaction: begun, watched, ended with its reason, whoever cancels it and wherever."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist

from chatapp import events
from chatapp.compacting.calling import Rejected
from chatapp.compacting.folding import fold
from chatapp.compacting.warming import warm
from chatapp.database import patiently
from chatapp.history import compactions, loading, metering, ongoing
from chatapp.history.compactions import Ending
from chatapp.history.errors import ChatBusy, Fenced, LimitReached
from chatapp.leases import PROCESS
from chatapp.llm import errors
from chatapp.models import Chat, Compaction, SiteSettings
from compaction.memory import after_failure, after_refusal, may_try

log = logging.getLogger("foldline.compacting")

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_END = 5.0

_cancels: dict[int, asyncio.Event] = {}


def cancel_here(compaction_id: int) -> None:
    """Wake the task at once where it is in this process."""
    if event := _cancels.get(compaction_id):
        event.set()


async def wait_for_end(chat_id: UUID) -> None:
    """Return once no compaction of the chat is live: a message sent meanwhile waits behind it (rule I3)."""
    ended = asyncio.Event()
    stop_listening = events.subscribe(chat_id, lambda _: ended.set())
    try:
        while await patiently(Compaction.objects.live().filter(chat_id=chat_id).exists):
            ended.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), SECONDS_BETWEEN_LOOKS)
    finally:
        stop_listening()


async def compact_for_run(chat_id: UUID, run_id: int, trigger: Compaction.Trigger) -> bool:
    """Compact for a run that is about to ask; True when it was applied. Never raises for a failed compaction."""
    try:
        compaction = await patiently(
            compactions.begin_compaction, chat_id=chat_id, trigger=trigger, by=PROCESS, run_id=run_id
        )
    except ChatBusy:
        return False
    return await compact(compaction.pk, chat_id)


async def compact_when_idle(chat_id: UUID) -> None:
    """When a reply has ended and the idle trigger is reached, so that nobody waits for it (rule B1)."""
    if not await patiently(_is_due_when_idle, chat_id):
        return
    situation = await patiently(loading.load_situation, chat_id)
    if may_try(situation.memory, situation.meter(), situation.transcript):
        return
    with suppress(ChatBusy, LimitReached):
        compaction = await patiently(
            compactions.begin_compaction, chat_id=chat_id, trigger=Compaction.Trigger.IDLE, by=PROCESS
        )
        await compact_and_warm(compaction.pk, chat_id)


def _is_due_when_idle(chat_id: UUID) -> bool:
    """Told by the figure alone: after most replies nothing more of a long chat is read."""
    chat = Chat.objects.select_related("compacted_through").get(pk=chat_id)
    site = SiteSettings.get_solo()
    if not site.compacts_when_idle or chat.policy != Chat.Policy.COMPACT:
        return False
    return metering.load_meter(chat, site, loading.model_of(chat, site)).over_idle_trigger


async def compact_and_warm(compaction_id: int, chat_id: UUID) -> None:
    """For a compaction that no run is waiting for: the new prompt is warmed once it is applied (rule G5)."""
    if await compact(compaction_id, chat_id):
        await warm(chat_id)


async def compact(compaction_id: int, chat_id: UUID) -> bool:
    """Carry out a compaction that has been begun; True when it was applied.

    Every other end is recorded with its reason. Cancelling the task records it as cancelled and passes on.
    """
    ending = Ending(Compaction.Status.FAILED, "internal")
    cancel = _cancels[compaction_id] = asyncio.Event()
    await events.publish(chat_id, events.Changed())
    work = asyncio.ensure_future(fold(compaction_id, chat_id))
    watch = asyncio.ensure_future(_watch(compaction_id, cancel))
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done() and watch.exception():
            # Its row ended before the task did: it was applied this very moment, or it was taken over.
            await asyncio.wait({work}, timeout=SECONDS_TO_END)
        if not work.done():
            ending = Ending(Compaction.Status.CANCELLED)
            return False
        refusal = work.result()
        if refusal is None:
            return True
        ending = Ending(Compaction.Status.REFUSED, refusal.code, refusal.detail)
    except errors.EndpointError as error:
        ending = Ending(Compaction.Status.FAILED, error.code, error.detail)
    except Rejected as rejected:
        ending = Ending(Compaction.Status.FAILED, rejected.code)
    except (Fenced, ObjectDoesNotExist):
        ending = Ending(Compaction.Status.CANCELLED, "path_changed")
    except asyncio.CancelledError:
        ending = Ending(Compaction.Status.CANCELLED)
        raise
    except Exception:
        log.exception("A compaction failed.")
    finally:
        for task in (work, watch):
            task.cancel()
        await asyncio.gather(work, watch, return_exceptions=True)
        _cancels.pop(compaction_id, None)
        await asyncio.shield(asyncio.ensure_future(_end(compaction_id, chat_id, ending)))
    return False


async def _end(compaction_id: int, chat_id: UUID, ending: Ending) -> None:
    """A no-op on the row where it was applied."""
    with suppress(ObjectDoesNotExist):  # the chat was deleted meanwhile
        has_ended = await patiently(compactions.end_compaction, compaction_id=compaction_id, ending=ending)
        if has_ended and not await patiently(_tells_nothing, compaction_id):
            await _remember(chat_id, ending)
    await events.publish(chat_id, events.Changed())


async def _watch(compaction_id: int, cancel: asyncio.Event) -> None:
    """Prolong the lease; return when the person cancels, here or in another process."""
    while not await patiently(ongoing.keep_alive, compaction_id):
        with suppress(TimeoutError):
            await asyncio.wait_for(cancel.wait(), SECONDS_BETWEEN_LOOKS)


def _tells_nothing(compaction_id: int) -> bool:
    """Whether it was rebuilt, or folded for the limits of another model: no word on whether folding is worth a try."""
    apart = [Compaction.Trigger.REBUILD, Compaction.Trigger.MODEL]
    return Compaction.objects.filter(pk=compaction_id, trigger__in=apart).exists()


async def _remember(chat_id: UUID, ending: Ending) -> None:
    """A refusal or a failure holds up the next automatic compaction, and a restart remembers it (rules D3, D4)."""
    if ending.status not in {Compaction.Status.REFUSED, Compaction.Status.FAILED}:
        return
    situation = await patiently(loading.load_situation, chat_id)
    memory = (
        after_refusal(situation.memory, situation.meter(), situation.transcript)
        if ending.status == Compaction.Status.REFUSED
        else after_failure(situation.memory, situation.transcript)
    )
    await patiently(compactions.remember, chat_id=chat_id, memory=memory)
