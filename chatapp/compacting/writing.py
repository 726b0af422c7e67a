"""How a segment is written: as one more turn of the cached request, or from a quoted transcript in chunks (rules E)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatapp import events
from chatapp.compacting.calling import Summariser, judged
from chatapp.database import in_database
from chatapp.history import compactions, ledger
from chatapp.history.loading import Situation
from chatapp.llm import errors
from chatapp.models import Compaction
from compaction import prompts
from compaction.continuation import continuation_request, may_continue
from compaction.planning import ASSUMED_WINDOW, Plan
from compaction.request import RequestMessage, assemble
from compaction.scripts import language_hint
from compaction.setbacks import read_setback
from compaction.splitting import as_text
from compaction.tokens import estimate_text
from compaction.transcript import Transcript, Usage, first_unanswered

# An estimate may be a third too low: where a chunk is refused as too long, all is cut smaller and begun again.
SHARES_OF_WINDOW = (1.0, 0.7, 0.45)
# Tokens of the message that asks for a continuation, instructions aside.
ASKING = 250


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is the new segment; `mode` tells how it came about."""

    text: str
    mode: Compaction.Mode


async def write_segment(summariser: Summariser, situation: Situation, plan: Plan, *, instructions: str) -> Written:
    """A segment for what the plan archives. Raises Rejected, EndpointError, Fenced."""
    if not _why_not_continue(summariser, situation, plan, instructions):
        text = await _continue(summariser, situation, plan, instructions)
        if text:
            return Written(text, Compaction.Mode.CONTINUATION)
    text = await _from_transcript(summariser, situation, plan, instructions)
    return Written(text, Compaction.Mode.TRANSCRIPT)


def _why_not_continue(summariser: Summariser, situation: Situation, plan: Plan, instructions: str) -> str:
    replies = [message for message in situation.transcript.messages if message.usage]
    is_own_model = situation.model is not None and summariser.model.pk == situation.model.pk
    if not is_own_model or not replies:
        return "model_changed"
    usages: Sequence[Usage] = [reply.usage for reply in replies if reply.usage]
    return may_continue(
        model=situation.transcript.model,
        last_model=replies[-1].model,
        recent=usages,
        is_marked=summariser.model.endpoint.keeps_cache,
        is_suspended=bool(summariser.model.continuation_suspended),
        size=situation.meter().used,
        asking=ASKING + estimate_text(instructions),
        budget=plan.summary_budget,
        window=situation.limits.window,
    )


async def _continue(summariser: Summariser, situation: Situation, plan: Plan, instructions: str) -> str:
    """The segment, or "" where it has to be asked for as a transcript after all (rule E3)."""
    archived = "\n\n".join(as_text(message) for message in plan.archived)
    request, reply = _last_exchange(situation.transcript, no_system_role=situation.no_system_role)
    answered = first_unanswered(situation.transcript.messages)
    unanswered = {message.id for message in situation.transcript.messages[answered:]}
    asked = continuation_request(
        request,
        reply,
        tuple(message for message in plan.kept if message.id not in unanswered),
        budget=plan.summary_budget,
        hint=language_hint(archived),
        instructions=instructions,
    )
    try:
        completion = await summariser.ask(asked, budget=plan.summary_budget)
    except errors.EndpointRefused as refused:
        setback = read_setback(refusal=refused.detail or refused.code)
        await in_database(ledger.note_setback, model=summariser.model, setback=setback)
        return ""
    except errors.RequestTooLong:
        return ""
    setback = read_setback(
        text=completion.text,
        tool_calls=completion.tool_calls,
        reasoning_only=bool(completion.reasoning),
        empties=summariser.model.continuation_empties,
    )
    await in_database(ledger.note_setback, model=summariser.model, setback=setback)
    verdict = judged(completion, budget=plan.summary_budget, source=archived)
    return verdict.text if verdict.ok else ""


def _last_exchange(
    transcript: Transcript, *, no_system_role: bool
) -> tuple[tuple[RequestMessage, ...], RequestMessage | None]:
    """The last request as it went out, and the reply to it; what waits unanswered was in neither."""
    messages = transcript.messages[: first_unanswered(transcript.messages)]
    if not messages or messages[-1].role != "assistant":
        return assemble(replace(transcript, messages=messages), no_system_role=no_system_role), None
    whole = assemble(replace(transcript, messages=messages), no_system_role=no_system_role)
    return whole[:-1], whole[-1]


async def _from_transcript(summariser: Summariser, situation: Situation, plan: Plan, instructions: str) -> str:
    """In as many chunks as it takes; every archived word is in one of them (rule E2)."""
    template = situation.site.summary_prompt
    for share in SHARES_OF_WINDOW:
        chunks = prompts.chunks(
            plan,
            earlier_summary="",
            frozen=situation.transcript.summary,
            window=round((summariser.model.window_tokens or ASSUMED_WINDOW) * share),
            budget=plan.summary_budget,
            template=template,
            instructions=instructions,
        )
        await in_database(compactions.note_chunks, compaction_id=summariser.compaction_id, total=len(chunks))
        summary = ""
        try:
            for chunk in chunks:
                await events.publish(summariser.chat_id, events.Changed())
                request = prompts.summary_request(
                    chunk,
                    summary_so_far=summary,
                    template=template,
                    instructions=instructions,
                    no_system_role=summariser.model.no_system_role,
                )
                summary = await summariser.summarise(request, budget=chunk.budget, source=chunk.text)
                await in_database(compactions.note_chunk_done, compaction_id=summariser.compaction_id)
        except errors.RequestTooLong as too_long:
            refusal = too_long
        else:
            return summary
    raise refusal
