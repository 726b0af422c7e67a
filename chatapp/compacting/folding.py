"""What one compaction does: its plan, its summary, its record, and the change of model that goes with it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from uuid import UUID

from chatapp.compacting.calling import Summariser, announce, summariser_for
from chatapp.compacting.rebuilding import rebuild
from chatapp.compacting.recording import facts_of, make_record
from chatapp.compacting.writing import Written, write_segment
from chatapp.database import patiently
from chatapp.history import changing, compactions, loading
from chatapp.history.loading import Situation
from chatapp.history.staleness import sound_segments
from chatapp.llm import errors
from chatapp.models import Compaction, LanguageModel
from compaction import planning
from compaction.changing import limits_for_change
from compaction.planning import Plan, Refusal
from compaction.segments import Segment, joined

log = logging.getLogger("foldline.compacting")


@dataclass(frozen=True, slots=True)
class _Task:
    """`before`: the chat as its model was last asked. `after`: as the model that it goes on with sees it (rule B8).

    `sound`: the earlier segments that a summariser may be shown (rule J2). `writers` are asked for the summary, the
    next one where an endpoint fails; None is the usual one.
    """

    wishes: Compaction
    before: Situation
    after: Situation
    sound: tuple[Segment, ...]
    writers: tuple[LanguageModel | None, ...] = (None,)


async def fold(compaction_id: int, chat_id: UUID) -> Refusal | None:
    """None when it was applied. Raises EndpointError, Rejected, Fenced."""
    task = await patiently(_read_task, compaction_id, chat_id)
    if isinstance(task, Refusal):
        return task
    situation = task.after
    if task.wishes.trigger == Compaction.Trigger.REBUILD:
        return await rebuild(compaction_id, situation)
    # In a thread: a hundred thousand messages take a third of a second, and the loop writes other people's replies.
    plan = await asyncio.to_thread(
        planning.plan, situation.transcript, situation.limits, up_to=task.wishes.up_to, keeps_summary=True
    )
    if isinstance(plan, Refusal):
        return plan
    summariser, written = await _write(task, plan)
    record = await make_record(summariser, situation, plan, written.text, sound=task.sound)
    accepted = planning.accept(plan, situation.transcript, joined(record.segments), situation.limits)
    if isinstance(accepted, Refusal):
        return accepted
    await patiently(
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


def _read_task(compaction_id: int, chat_id: UUID) -> _Task | Refusal:
    wishes = Compaction.objects.select_related("to_model__endpoint").get(pk=compaction_id)
    before = loading.load_situation(chat_id)
    sound = sound_segments(before.chat)
    if wishes.trigger != Compaction.Trigger.MODEL:
        return _Task(wishes, before, before, sound)
    if wishes.to_model is None:
        return Refusal("no_such_model")
    after = loading.load_situation(chat_id, model=wishes.to_model)
    writer = changing.writer_before(before.chat, before.site, wishes.to_model)
    writers = (writer,) if writer == wishes.to_model else (writer, wishes.to_model)
    return _Task(wishes, before, replace(after, limits=limits_for_change(after.limits)), sound, writers)


async def _write(task: _Task, plan: Plan) -> tuple[Summariser, Written]:
    """A model is often changed because its endpoint fails; then the one that is changed to writes the summary."""
    *others, last = task.writers
    for writer in others:
        try:
            return await _write_by(writer, task, plan)
        except errors.EndpointError as error:
            log.info("Another model writes the summary, as this one failed: %s", error.code)
    return await _write_by(last, task, plan)


async def _write_by(writer: LanguageModel | None, task: _Task, plan: Plan) -> tuple[Summariser, Written]:
    summariser = await summariser_for(task.wishes.pk, task.before, model=writer)
    await announce(task.wishes.pk, task.after, plan, model_name=summariser.model.name)
    written = await write_segment(
        summariser, task.before, plan, instructions=task.wishes.instructions, sound=task.sound
    )
    return summariser, written
