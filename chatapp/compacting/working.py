"""The life of one compaction: begun, watched, ended with its reason, whoever cancels it and wherever."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist

from chatapp import events
from chatapp.compacting.calling import Rejected, summariser_for
from chatapp.compacting.rebuilding import rebuild
from chatapp.compacting.recording import facts_of, make_record
from chatapp.compacting.warming import warm
from chatapp.compacting.writing import write_segment
from chatapp.database import in_database
from chatapp.history import compactions, loading
from chatapp.history.compactions import Ending
from chatapp.history.errors import ChatBusy, Fenced
from chatapp.history.staleness import sound_segments
from chatapp.llm import errors
from chatapp.models import Compaction
from compaction import planning
from compaction.memory import after_failure, after_refusal, may_try
from compaction.planning import Refusal
from compaction.segments import joined

log = logging.getLogger("foldline.compacting")

SECONDS_BETWEEN_LOOKS = 1.0

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
        while await in_database(Compaction.objects.live().filter(chat_id=chat_id).exists):
            ended.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), SECONDS_BETWEEN_LOOKS)
    finally:
        stop_listening()


async def compact_for_run(chat_id: UUID, run_id: int, trigger: Compaction.Trigger) -> bool:
    """Compact for a run that is about to ask; True when it was applied. Never raises for a failed compaction."""
    try:
        compaction = await in_database(
            compactions.begin_compaction, chat_id=chat_id, trigger=trigger, by=events.PROCESS, run_id=run_id
        )
    except ChatBusy:
        return False
    return await compact(compaction.pk, chat_id)


async def compact_when_idle(chat_id: UUID) -> None:
    """When a reply has ended and the idle trigger is reached, so that nobody waits for it (rule B1)."""
    situation = await in_database(loading.load_situation, chat_id)
    meter = situation.meter()
    if not (situation.site.compacts_when_idle and situation.is_compacting and meter.over_idle_trigger):
        return
    if may_try(situation.memory, meter, situation.transcript):
        return
    with suppress(ChatBusy):
        compaction = await in_database(
            compactions.begin_compaction, chat_id=chat_id, trigger=Compaction.Trigger.IDLE, by=events.PROCESS
        )
        await compact_and_warm(compaction.pk, chat_id)


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
    work = asyncio.ensure_future(_work(compaction_id, chat_id))
    watch = asyncio.ensure_future(_watch(compaction_id, cancel))
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
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
        has_ended = await in_database(compactions.end_compaction, compaction_id=compaction_id, ending=ending)
        if has_ended and not await in_database(_is_rebuild, compaction_id):
            await _remember(chat_id, ending)
    await events.publish(chat_id, events.Changed())


async def _watch(compaction_id: int, cancel: asyncio.Event) -> None:
    """Prolong the lease; return when the person cancels, here or in another process."""
    while not await in_database(compactions.keep_alive, compaction_id):
        with suppress(TimeoutError):
            await asyncio.wait_for(cancel.wait(), SECONDS_BETWEEN_LOOKS)


async def _work(compaction_id: int, chat_id: UUID) -> Refusal | None:
    situation = await in_database(loading.load_situation, chat_id)
    wishes = await in_database(Compaction.objects.get, pk=compaction_id)
    if wishes.trigger == Compaction.Trigger.REBUILD:
        return await rebuild(compaction_id, situation)
    # In a thread: a hundred thousand messages take a third of a second, and the loop writes other people's replies.
    plan = await asyncio.to_thread(
        planning.plan, situation.transcript, situation.limits, up_to=wishes.up_to, keeps_summary=True
    )
    if isinstance(plan, Refusal):
        return plan
    summariser = await summariser_for(compaction_id, situation)
    meter = situation.meter()
    await in_database(
        compactions.note_plan,
        compaction_id=compaction_id,
        plan=plan,
        model_name=summariser.model.name,
        tokens_before=meter.used,
        before_is_measured=meter.measured,
    )
    await events.publish(chat_id, events.Changed())
    sound = await in_database(sound_segments, situation.chat)
    written = await write_segment(summariser, situation, plan, instructions=wishes.instructions, sound=sound)
    record = await make_record(summariser, situation, plan, written.text, sound=sound)
    accepted = planning.accept(plan, situation.transcript, joined(record.segments), situation.limits)
    if isinstance(accepted, Refusal):
        return accepted
    await in_database(
        compactions.apply_compaction,
        compaction_id=compaction_id,
        segments=record.segments,
        planned_record=situation.chat.record(),
        mode=written.mode,
        tokens_after=accepted.tokens_after,
        measured_offset=accepted.measured_offset,
        measured_model=situation.transcript.model,
        **facts_of([record.values]),
    )
    return None


def _is_rebuild(compaction_id: int) -> bool:
    """What became of one says nothing of whether folding is worth another try."""
    return Compaction.objects.filter(pk=compaction_id, trigger=Compaction.Trigger.REBUILD).exists()


async def _remember(chat_id: UUID, ending: Ending) -> None:
    """A refusal or a failure holds up the next automatic compaction, and a restart remembers it (rules D3, D4)."""
    if ending.status not in {Compaction.Status.REFUSED, Compaction.Status.FAILED}:
        return
    situation = await in_database(loading.load_situation, chat_id)
    memory = (
        after_refusal(situation.memory, situation.meter(), situation.transcript)
        if ending.status == Compaction.Status.REFUSED
        else after_failure(situation.memory, situation.transcript)
    )
    await in_database(compactions.remember, chat_id=chat_id, memory=memory)
