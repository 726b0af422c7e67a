"""One compaction, from the plan to the record: decide (pure), act (here, at the rim), record (one transaction)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

from chatapp import connecting, events
from chatapp.database import in_database
from chatapp.history import compactions, ledger, loading
from chatapp.history.compactions import Ending
from chatapp.history.errors import ChatBusy, Fenced
from chatapp.llm import Target, complete, errors
from chatapp.models import Compaction, LanguageModel, UsageRecord
from compaction import planning, prompts
from compaction.judging import Verdict, judge
from compaction.planning import ASSUMED_WINDOW, Plan, Refusal
from compaction.request import as_payload
from compaction.transcript import Usage

log = logging.getLogger("foldline.compacting")

SECONDS_BETWEEN_LOOKS = 1.0
# Rule F: one retry at most. The second is a little freer: a small model that copied once copies again at the same one.
TEMPERATURES = (0.2, 0.7)
SHARES_OF_WINDOW = (1.0, 0.7, 0.45)

_cancels: dict[int, asyncio.Event] = {}


class Rejected(Exception):
    """The summariser's answer was judged unfit twice; `code` says why (rules F)."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.code)
        self.code = verdict.code


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
    except Fenced:
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
    await in_database(compactions.end_compaction, compaction_id=compaction_id, ending=ending)
    await events.publish(chat_id, events.Changed())


async def _watch(compaction_id: int, cancel: asyncio.Event) -> None:
    """Prolong the lease; return when the person cancels, here or in another process."""
    while not await in_database(compactions.keep_alive, compaction_id):
        with suppress(TimeoutError):
            await asyncio.wait_for(cancel.wait(), SECONDS_BETWEEN_LOOKS)


async def _work(compaction_id: int, chat_id: UUID) -> Refusal | None:
    situation = await in_database(loading.load_situation, chat_id)
    plan = planning.plan(situation.transcript, situation.limits)
    if isinstance(plan, Refusal):
        return plan
    summariser = connecting.connected(await in_database(_summariser_of, situation))
    target = connecting.target_of(summariser, situation.site)
    meter = situation.meter()
    await in_database(
        compactions.note_plan,
        compaction_id=compaction_id,
        plan=plan,
        model_name=summariser.name,
        tokens_before=meter.used,
        before_is_measured=meter.measured,
    )
    summary = await _summarise_delta(compaction_id, situation, plan, summariser, target)
    accepted = planning.accept(plan, situation.transcript, summary, situation.limits)
    if isinstance(accepted, Refusal):
        return accepted
    await in_database(
        compactions.apply_compaction,
        compaction_id=compaction_id,
        summary=summary,
        planned_record=situation.chat.record(),
        tokens_after=accepted.tokens_after,
        measured_offset=accepted.measured_offset,
    )
    return None


async def _summarise_delta(
    compaction_id: int, situation: loading.Situation, plan: Plan, summariser: LanguageModel, target: Target
) -> str:
    """The earlier summary carried on over all that is archived, in as many chunks as it takes (rule E2).

    An estimate may be a third too low: where the endpoint then refuses a chunk, all is cut smaller and begun again.
    """
    earlier, template = situation.transcript.summary, situation.site.summary_prompt
    for share in SHARES_OF_WINDOW:
        window = round((summariser.window_tokens or ASSUMED_WINDOW) * share)
        chunks = prompts.chunks(
            plan, earlier_summary=earlier, window=window, budget=plan.summary_budget, template=template
        )
        await in_database(compactions.note_chunks, compaction_id=compaction_id, total=len(chunks))
        await events.publish(situation.chat.pk, events.Changed())
        summary = earlier
        try:
            for chunk in chunks:
                summary = await _summarise(compaction_id, situation, chunk, summary, summariser, target)
                await events.publish(situation.chat.pk, events.Changed())
        except errors.RequestTooLong as too_long:
            refusal = too_long
        else:
            return summary
    raise refusal


async def _summarise(
    compaction_id: int,
    situation: loading.Situation,
    chunk: prompts.Chunk,
    summary_so_far: str,
    summariser: LanguageModel,
    target: Target,
) -> str:
    """The summary carried on over one chunk. Raises Rejected, EndpointError, Fenced."""
    request = prompts.summary_request(
        chunk,
        summary_so_far=summary_so_far,
        template=situation.site.summary_prompt,
        no_system_role=summariser.no_system_role,
    )
    for temperature in TEMPERATURES:
        completion = await complete(target, as_payload(request), max_tokens=chunk.budget, temperature=temperature)
        verdict = judge(
            completion.text,
            finish_reason=completion.finish_reason,
            tool_calls=completion.tool_calls,
            reasoning_only=bool(completion.reasoning and not completion.text.strip()),
            budget=chunk.budget,
            source_text=chunk.text,
        )
        await in_database(
            compactions.note_call,
            compaction_id=compaction_id,
            usage=completion.usage,
            chunk_is_done=verdict.ok,
        )
        if completion.usage:
            await _record_usage(situation, summariser, completion.usage)
        if verdict.ok:
            return verdict.text
    raise Rejected(verdict)


async def _record_usage(situation: loading.Situation, summariser: LanguageModel, usage: Usage) -> None:
    """A failing ledger never fails a compaction (rule I5)."""
    try:
        await in_database(
            ledger.record_usage,
            kind=UsageRecord.Kind.COMPACTION,
            chat_id=situation.chat.pk,
            model=summariser,
            usage=usage,
            measured=True,
        )
    except Exception:
        log.exception("Usage of a compaction could not be recorded.")


def _summariser_of(situation: loading.Situation) -> LanguageModel | None:
    """The admin's summariser while it is usable, else the chat's own model (rule E8)."""
    site = situation.site
    chosen = LanguageModel.objects.usable().filter(pk=site.summariser_id).first() if site.summariser_id else None
    return chosen or situation.model
