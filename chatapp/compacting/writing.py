"""How a segment is written: as one more turn of the cached request, or from a quoted transcript in chunks (rules E)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chatapp import events
from chatapp.compacting.calling import Summariser, judged
from chatapp.database import patiently
from chatapp.history import ledger, ongoing
from chatapp.history.loading import Situation
from chatapp.llm import errors
from chatapp.models import Compaction
from compaction import prompts
from compaction.continuation import continuation_request, may_continue
from compaction.planning import ASSUMED_WINDOW, Plan
from compaction.prompts import Chunk
from compaction.request import RequestMessage, assemble
from compaction.scripts import language_hint
from compaction.segments import Segment, joined
from compaction.setbacks import read_setback
from compaction.splitting import as_text
from compaction.tokens import estimate_message
from compaction.transcript import first_unanswered
from compaction.unfinished import chained_keys

log = logging.getLogger("foldline.compacting")

# An estimate may be a third too low: where a chunk is refused as too long, all is cut smaller and begun again.
SHARES_OF_WINDOW = (1.0, 0.7, 0.45)


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is the new segment; `mode` tells how it came about."""

    text: str
    mode: Compaction.Mode


async def write_segment(
    summariser: Summariser, situation: Situation, plan: Plan, *, instructions: str, sound: tuple[Segment, ...]
) -> Written:
    """A segment for what the plan archives. `sound`: the earlier segments that it may carry on from (rule J2).

    Raises Rejected, EndpointError, Fenced.
    """
    asked = _as_continuation(situation, plan, instructions)
    # The request as it went out holds the whole record, and with a stale segment what was deleted.
    is_sound = len(sound) == len(situation.segments)
    continues = is_sound and not _why_not_continue(summariser, situation, plan, asking=estimate_message(asked[-1]))
    if continues and (text := await _continue(summariser, situation, plan, asked)):
        return Written(text, Compaction.Mode.CONTINUATION)
    # Two summary calls an attempt, chunks aside (rule D4): what the continuation took is gone.
    tries = 1 if continues else 2
    text = await write_from_transcript(
        summariser, situation, plan, earlier=sound, instructions=instructions, tries=tries
    )
    return Written(text, Compaction.Mode.TRANSCRIPT)


def _as_continuation(situation: Situation, plan: Plan, instructions: str) -> tuple[RequestMessage, ...]:
    """The last request as it went out, the reply to it, and the question; what waits unanswered was in neither."""
    messages = situation.transcript.messages
    answered = messages[: first_unanswered(messages)]
    said = replace(situation, transcript=replace(situation.transcript, messages=answered)).to_send().transcript
    request = assemble(said, no_system_role=situation.no_system_role)
    has_reply = bool(request) and request[-1].role == "assistant"
    unanswered = {message.id for message in messages[len(answered) :]}
    return continuation_request(
        request[:-1] if has_reply else request,
        request[-1] if has_reply else None,
        tuple(message for message in plan.kept if message.id not in unanswered and not message.is_empty),
        budget=plan.summary_budget,
        hint=language_hint(_archived_text(plan)),
        instructions=instructions,
    )


def _archived_text(plan: Plan) -> str:
    return "\n\n".join(as_text(message) for message in plan.archived)


def _why_not_continue(summariser: Summariser, situation: Situation, plan: Plan, *, asking: int) -> str:
    """`asking`: estimated tokens of the question."""
    replies = [message for message in situation.transcript.messages if message.usage]
    is_own_model = situation.model is not None and summariser.model.pk == situation.model.pk
    if not is_own_model or not replies:
        return "model_changed"
    return may_continue(
        model=situation.transcript.model,
        last_model=replies[-1].model,
        recent=[reply.usage for reply in replies if reply.usage],
        is_marked=summariser.model.endpoint.keeps_cache,
        is_suspended=bool(summariser.model.continuation_suspended),
        size=situation.meter().used,
        asking=asking,
        budget=plan.summary_budget,
        window=situation.limits.window,
    )


async def _continue(summariser: Summariser, situation: Situation, plan: Plan, asked: tuple[RequestMessage, ...]) -> str:
    """The segment, or "" where it has to be asked for as a transcript after all (rule E3)."""
    try:
        completion = await summariser.ask(asked, budget=plan.summary_budget, params=situation.chat.parameters)
    except errors.EndpointRefused as refused:
        setback = read_setback(refusal=refused.detail or refused.code)
        await patiently(ledger.note_setback, model=summariser.model, setback=setback)
        return ""
    except errors.RequestTooLong:
        return ""
    verdict = judged(completion, budget=plan.summary_budget, source=_archived_text(plan))
    setback = read_setback(
        text=completion.text,
        tool_calls=completion.tool_calls,
        reasoning_only=bool(completion.reasoning),
        judged=verdict.code,
        empties=summariser.model.continuation_empties,
    )
    await patiently(ledger.note_setback, model=summariser.model, setback=setback)
    if not verdict.ok:
        log.info("A continuation gave no summary: %s", verdict.code)
    return verdict.text if verdict.ok else ""


async def write_from_transcript(
    summariser: Summariser,
    situation: Situation,
    plan: Plan,
    *,
    earlier: tuple[Segment, ...],
    instructions: str = "",
    tries: int = 2,
) -> str:
    """In as many chunks as it takes; every archived word is in one of them (rule E2). `earlier` is shown beside it.

    Raises Rejected, EndpointError, Fenced.
    """
    template = situation.site.summary_prompt
    for share in SHARES_OF_WINDOW:
        chunks = prompts.chunks(
            plan,
            earlier_summary="",
            frozen=joined(earlier),
            window=round((summariser.model.window_tokens or ASSUMED_WINDOW) * share),
            budget=plan.summary_budget,
            template=template,
            instructions=instructions,
        )
        ask = partial(
            prompts.summary_request,
            template=template,
            instructions=instructions,
            no_system_role=summariser.model.no_system_role,
        )
        try:
            return await _write_chunks(summariser, chunks, ask, tries=tries)
        except errors.RequestTooLong as too_long:
            refusal = too_long
    raise refusal


async def _write_chunks(
    summariser: Summariser, chunks: Sequence[Chunk], ask: Callable[..., tuple[RequestMessage, ...]], *, tries: int
) -> str:
    """Each carries on the summary so far; the first may be that of an earlier try at the same chunks (rule E9)."""
    # Without how many there are in all: where the chat has grown since, the first ones are the same.
    bare = (ask(replace(chunk, of=1), summary_so_far="") for chunk in chunks)
    keys = chained_keys(str(summariser.model.pk), bare)
    done, summary = await patiently(ongoing.note_chunks, compaction_id=summariser.compaction_id, keys=keys)
    for chunk, key in zip(chunks[done:], keys[done:], strict=True):
        await events.publish(summariser.chat.pk, events.Changed())
        request = ask(chunk, summary_so_far=summary)
        summary = await summariser.summarise(request, budget=chunk.budget, source=chunk.text, tries=tries)
        await patiently(ongoing.note_chunk_done, compaction_id=summariser.compaction_id, key=key, summary=summary)
    return summary
