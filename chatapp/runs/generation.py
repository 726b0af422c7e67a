"""One reply from its placeholder to its end: compact first if need be, stream, and close the run with what there is."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone

from chatapp import compacting, connecting, events, metrics
from chatapp.database import patiently
from chatapp.history import ledger, loading, turns
from chatapp.llm import deltas, errors, stream_chat
from chatapp.llm.options import offered
from chatapp.models import Compaction, LanguageModel, Message
from chatapp.payloads import payload_of
from chatapp.runs import titles
from chatapp.runs.ending import Outcome, finish, record_call
from chatapp.runs.keeping import GIVEN_UP, kept_up
from chatapp.runs.live import LiveRun
from chatapp.runs.preparing import Prepared, prepare, prepared_of
from compaction.filling import was_window_full
from compaction.memory import may_try
from compaction.shrinking import shrink

log = logging.getLogger("foldline.runs")

SHRINKINGS = 2  # rule B7


class WindowFull(errors.StreamBroken):
    """The window was full before the reply had a word: compact, then once more."""


async def write_reply(live: LiveRun) -> bool:
    """A run from its beginning to its end; whether the reply is complete.

    Ended by Stop or shutdown, it still closes the row; then cancellation passes.
    """
    outcome = Outcome()
    cancelled: asyncio.CancelledError | None = None
    try:
        async with kept_up(live):
            await _until_stopped(live, _write(live, outcome))
    except asyncio.CancelledError as shutdown:
        outcome.status, outcome.failure, cancelled = Message.Status.INTERRUPTED, "interrupted", shutdown
    except GIVEN_UP:
        return False
    except errors.EndpointError as error:
        metrics.endpoint_failures.labels(error.code).inc()
        outcome.failure, outcome.failure_detail = error.code, error.detail
        if isinstance(error, errors.EndpointBusy) and error.retry_after:
            outcome.retry_at = timezone.now() + timedelta(seconds=error.retry_after)
        broken = isinstance(error, errors.StreamBroken | errors.ReplyTooLarge) and live.has_written
        outcome.status = Message.Status.INTERRUPTED if broken else Message.Status.FAILED
    except Exception:
        log.exception("A run failed.")
        outcome.status, outcome.failure = Message.Status.FAILED, "internal"
    has_ended = live.has_written and live.gathered.finish_reason
    if live.stopping.is_set() and outcome.status is Message.Status.COMPLETE and not has_ended:
        outcome.status = Message.Status.STOPPED
    try:
        await asyncio.shield(asyncio.ensure_future(finish(live, outcome)))
    except GIVEN_UP:
        outcome.status = Message.Status.INTERRUPTED  # whoever took it over has said so
    await events.publish_listed(live.chat_id, live.owner_id)
    if cancelled:
        raise cancelled
    return outcome.status is Message.Status.COMPLETE


async def use_idle_moment(chat_id: UUID, *, owes_title: bool) -> None:
    """What is better done now than when the person waits: a title, and a compaction that is due."""
    with suppress(ObjectDoesNotExist):  # deleted meanwhile
        if owes_title:
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
    has_tried = prepared.meter.over_trigger and _may_compact(prepared)
    if has_tried:  # rule B2
        await _compact(live, Compaction.Trigger.SEND)
        prepared = await prepare(live)
    try:
        await _stream(live, prepared, outcome)
    except errors.RequestTooLong as too_long:  # rule B3: one compaction, one more try
        await _learn_window(prepared.situation, too_long.window)
        if prepared.situation.limits.threshold_percent == 0 and prepared.situation.is_compacting:
            raise  # at 0 only the button compacts
        if not has_tried and _may_compact(prepared, is_full=True):
            await _compact(live, Compaction.Trigger.OVERFLOW)
            prepared = await prepare(live)
        await _stream_shrinking(live, prepared, outcome)
    except WindowFull:  # rule B5: one compaction that makes room, one more try
        if has_tried or not _may_compact(prepared, is_full=True) or not await _compact(live, Compaction.Trigger.FULL):
            raise
        await record_call(live, outcome)
        live.begin_afresh()
        await _stream(live, await prepare(live), outcome)


def _may_compact(prepared: Prepared, *, is_full: bool = False) -> bool:
    """Whether policy, threshold, refusal memory and rest allow an automatic compaction (rules A5, D3, D4, J4)."""
    situation = prepared.situation
    if not situation.is_compacting or situation.limits.threshold_percent == 0:
        return False
    return not may_try(situation.memory, prepared.meter, situation.transcript, is_full=is_full)


async def _compact(live: LiveRun, trigger: Compaction.Trigger) -> bool:
    """Whether it was applied."""
    live.has_asked.set()
    return await compacting.compact_for_run(live.chat_id, live.run_id, trigger)


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
        await patiently(ledger.learn_window, model=situation.model, window=window)


async def _stream(live: LiveRun, prepared: Prepared, outcome: Outcome) -> None:
    situation = prepared.situation
    model = connecting.connected(situation.model)
    async with connecting.calling(model, situation.site, insists=live.insists) as call:
        outcome.model, outcome.estimated_prompt = model, prepared.estimated_tokens
        compacting.make_way()
        payload = await payload_of(prepared.request)
        asyncio.get_running_loop().call_soon(live.has_asked.set)  # as soon as the call below waits for anything
        noting = asyncio.ensure_future(_note_beginning(live, prepared, model))  # while the endpoint reads
        stream = stream_chat(
            call.target, payload, params=situation.chat.parameters, unread_seconds=live.seconds_to_next_frame
        )
        is_waiting = False
        try:
            async with aclosing(stream):
                async for event in stream:
                    is_waiting = isinstance(event, deltas.Waiting)
                    await call.hears(event)
                    live.take(event)
        except asyncio.CancelledError:
            outcome.was_asked = not is_waiting
            raise
        finally:
            await noting
    if live.has_written or live.gathered.has_tool_calls:
        return
    if was_window_full(
        finish_reason=live.gathered.finish_reason,
        usage=live.gathered.usage,
        estimated_prompt=prepared.estimated_tokens,
        reasoning=live.gathered.reasoning,
        limits=situation.limits,
    ):
        raise WindowFull("window_full")
    raise errors.StreamBroken("only_reasoning" if live.gathered.reasoning else "empty_reply")


async def _note_beginning(live: LiveRun, prepared: Prepared, model: LanguageModel) -> None:
    has_left_queue = await patiently(
        turns.begin_writing,
        run_id=live.run_id,
        attempt=live.attempt,
        model_name=model.name,
        window_tokens=prepared.situation.limits.window,
        estimated_prompt_tokens=prepared.estimated_tokens,
        request_through_id=prepared.situation.chat.compacted_through_id,
        request_extras=offered(prepared.situation.chat.parameters),
        left_out=list(prepared.left_out),
    )
    if has_left_queue:
        await events.publish(live.chat_id, events.Changed())
