"""One reply from its placeholder to its end: compact first if need be, stream, and close the run with what there is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError

from chatapp import compacting, connecting, events
from chatapp.database import in_database
from chatapp.history import ledger, loading, turns
from chatapp.history.errors import Fenced
from chatapp.llm import errors, stream_chat
from chatapp.models import Compaction, LanguageModel, Message, UsageRecord
from chatapp.runs import titles
from chatapp.runs.live import LiveRun
from chatapp.runs.preparing import Prepared, prepare, prepared_of
from compaction.memory import may_try
from compaction.request import as_payload
from compaction.shrinking import shrink
from compaction.tokens import estimate_text
from compaction.transcript import Usage

log = logging.getLogger("foldline.runs")

SECONDS_BETWEEN_FRAMES = 0.1
SECONDS_BETWEEN_SAVES = 1.0
SHRINKINGS = 2  # rule B7
# The run was taken over, or its chat was deleted meanwhile: there is nothing left to write to.
GIVEN_UP = (Fenced, ObjectDoesNotExist)


@dataclass(slots=True)
class Outcome:
    """How the reply ended, as finish_turn stores it."""

    status: Message.Status = Message.Status.COMPLETE
    failure: str = ""
    failure_detail: str = ""
    model: LanguageModel | None = None
    estimated_prompt: int = 0


async def write_reply(live: LiveRun) -> None:
    """The whole life of a run's task. Ended by Stop or shutdown, it still closes the row; then cancellation passes."""
    outcome = Outcome()
    cancelled: asyncio.CancelledError | None = None
    try:
        async with _kept_up(live):
            await _until_stopped(live, _write(live, outcome))
    except asyncio.CancelledError as shutdown:
        outcome.status, outcome.failure, cancelled = Message.Status.INTERRUPTED, "interrupted", shutdown
    except GIVEN_UP:
        return
    except errors.EndpointError as error:
        outcome.failure, outcome.failure_detail = error.code, error.detail
        broken = isinstance(error, errors.StreamBroken | errors.ReplyTooLarge) and bool(live.text)
        outcome.status = Message.Status.INTERRUPTED if broken else Message.Status.FAILED
    except Exception:
        log.exception("A run failed.")
        outcome.status, outcome.failure = Message.Status.FAILED, "internal"
    if live.stopping.is_set() and outcome.status is Message.Status.COMPLETE and not live.gathered.finish_reason:
        outcome.status = Message.Status.STOPPED
    with suppress(*GIVEN_UP):
        await asyncio.shield(asyncio.ensure_future(_finish(live, outcome)))
    await events.publish(live.chat_id, events.Changed())
    if cancelled:
        raise cancelled
    if outcome.status is Message.Status.COMPLETE:
        await _use_idle_moment(live.chat_id)


async def _use_idle_moment(chat_id: UUID) -> None:
    """What is better done now than when the person waits: a title, and a compaction that is due."""
    with suppress(ObjectDoesNotExist):  # deleted meanwhile
        await titles.suggest(chat_id)
        await compacting.compact_when_idle(chat_id)


async def _until_stopped(live: LiveRun, work: Any) -> None:
    """Run `work` until it ends or Stop is pressed; what it wrote so far stays in `live`."""
    writing = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(live.stopping.wait())
    try:
        await asyncio.wait({writing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            writing.result()
    finally:
        for task in (writing, stopping):
            task.cancel()
        await asyncio.gather(writing, stopping, return_exceptions=True)


async def _write(live: LiveRun, outcome: Outcome) -> None:
    prepared = await prepare(live)
    has_tried = prepared.meter.over_trigger and await _compact(live, prepared, Compaction.Trigger.SEND)  # rule B2
    if has_tried:
        prepared = await prepare(live)
    try:
        await _stream(live, prepared, outcome)
    except errors.RequestTooLong as too_long:  # rule B3: one compaction, one more try
        situation = prepared.situation
        await _learn_window(situation, too_long.window)
        if situation.limits.threshold_percent == 0 and situation.is_compacting:
            raise  # at 0 only the button compacts
        if not has_tried and await _compact(live, prepared, Compaction.Trigger.OVERFLOW):
            prepared = await prepare(live)
        await _stream_shrinking(live, prepared, outcome)


async def _compact(live: LiveRun, prepared: Prepared, trigger: Compaction.Trigger) -> bool:
    """Whether an automatic compaction was tried: policy, refusal memory and rest allow it (rules D3, D4, J4)."""
    situation, is_overflow = prepared.situation, trigger == Compaction.Trigger.OVERFLOW
    if not situation.is_compacting:
        return False
    if may_try(situation.memory, prepared.meter, situation.transcript, is_overflow=is_overflow):
        return False
    await compacting.compact_for_run(live.chat_id, live.run_id, trigger)
    return True


async def _stream_shrinking(live: LiveRun, prepared: Prepared, outcome: Outcome) -> None:
    """Once more as it is now, then made smaller by force at most twice (rule B7), then a clear error."""
    for _ in range(1 + SHRINKINGS):
        try:
            await _stream(live, prepared, outcome)
        except errors.RequestTooLong as again:
            refused = again
        else:
            return
        situation = prepared.situation
        shrunk = await asyncio.to_thread(shrink, situation.to_send().transcript, situation.limits)
        if not shrunk.is_changed:
            break
        left_out = (*prepared.left_out, *shrunk.dropped, *shrunk.shortened)
        prepared = await asyncio.to_thread(prepared_of, replace(situation, transcript=shrunk.transcript), left_out)
    raise errors.EndpointError("still_too_long", refused.detail) from refused


async def _learn_window(situation: loading.Situation, window: int) -> None:
    if window and situation.model and not situation.limits.window:
        await in_database(ledger.learn_window, model=situation.model, window=window)


async def _stream(live: LiveRun, prepared: Prepared, outcome: Outcome) -> None:
    situation = prepared.situation
    model = connecting.connected(situation.model)
    target = await connecting.reach(model, situation.site)
    outcome.model, outcome.estimated_prompt = model, prepared.estimated_tokens
    noting = asyncio.ensure_future(_note_beginning(live, prepared, model))  # while the endpoint reads
    stream = stream_chat(target, as_payload(prepared.request), params=situation.chat.parameters)
    try:
        async with aclosing(stream):
            async for event in stream:
                live.take(event)
    finally:
        await noting
    if not live.text.strip() and not live.gathered.has_tool_calls:
        raise errors.StreamBroken("only_reasoning" if live.reasoning else "empty_reply")


async def _note_beginning(live: LiveRun, prepared: Prepared, model: LanguageModel) -> None:
    has_left_queue = await in_database(
        turns.begin_writing,
        run_id=live.run_id,
        attempt=live.attempt,
        model_name=model.name,
        window_tokens=prepared.situation.limits.window,
        estimated_prompt_tokens=prepared.estimated_tokens,
        request_through_id=prepared.situation.chat.compacted_through_id,
        request_extras=prepared.situation.chat.parameters,
        left_out=list(prepared.left_out),
    )
    if has_left_queue:
        await events.publish(live.chat_id, events.Changed())


@asynccontextmanager
async def _kept_up(live: LiveRun) -> AsyncIterator[None]:
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
    while True:
        await live.changed.wait()
        live.changed.clear()
        if not events.has_listeners(live.chat_id):
            continue
        began = time.perf_counter()
        frame = await asyncio.to_thread(live.next_frame)
        cost = time.perf_counter() - began
        await events.publish(live.chat_id, frame)
        await asyncio.sleep(max(SECONDS_BETWEEN_FRAMES, 5 * cost))


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
        except DatabaseError as error:  # a busy moment; the next second tries again, and the lease lasts for twelve
            log.warning("The text so far could not be stored: %s", error)
            continue
        if stop:
            live.stopping.set()


async def _finish(live: LiveRun, outcome: Outcome) -> None:
    usage = live.gathered.usage
    await in_database(
        turns.finish_turn,
        run_id=live.run_id,
        attempt=live.attempt,
        status=outcome.status,
        content=live.text,
        reasoning=live.reasoning,
        failure=outcome.failure,
        failure_detail=outcome.failure_detail[:500],
        finish_reason=live.gathered.finish_reason[:20],
        prompt_tokens=usage.prompt if usage else None,
        completion_tokens=usage.completion if usage else None,
        cached_tokens=usage.cached if usage else None,
        reasoning_tokens=usage.reasoning if usage else None,
    )
    if outcome.model and (usage or live.text):
        await _record_usage(live, outcome.model, usage, outcome.estimated_prompt)


async def _record_usage(live: LiveRun, model: LanguageModel, usage: Usage | None, estimated_prompt: int) -> None:
    """In the ledger, and as a lesson for the model's estimates; a failing ledger never fails a reply."""
    estimate = Usage(prompt=estimated_prompt, completion=estimate_text(live.text))
    try:
        if usage and usage.prompt:
            await in_database(ledger.learn_ratio_of, model=model, recorded=usage.prompt, estimated=estimated_prompt)
        await in_database(
            ledger.record_usage,
            kind=UsageRecord.Kind.REPLY,
            chat_id=live.chat_id,
            model=model,
            usage=usage or estimate,
            measured=usage is not None,
        )
    except DatabaseError as error:  # the chat was deleted meanwhile, for one
        log.info("The usage of a reply was not recorded: %s", error)
