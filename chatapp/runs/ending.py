"""How a reply ends: what is stored of it, and what its call's usage teaches."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import Error
from django.utils import timezone

from chatapp import metrics
from chatapp.database import patiently
from chatapp.history import continuing, ledger, turns
from chatapp.history.texts import storable
from chatapp.models import LanguageModel, Message, UsageRecord
from chatapp.runs.live import LiveRun
from compaction.tokens import estimate_text
from compaction.transcript import Usage

log = logging.getLogger("foldline.runs")
events = structlog.stdlib.get_logger("foldline.runs")


@dataclass(slots=True)
class Outcome:
    """How the reply ended, as finish_turn stores it. `was_asked`: it was left while the endpoint had the prompt."""

    status: Message.Status = Message.Status.COMPLETE
    failure: str = ""
    failure_detail: str = ""
    retry_at: datetime | None = None
    model: LanguageModel | None = None
    estimated_prompt: int = 0
    was_asked: bool = False


async def finish(live: LiveRun, outcome: Outcome) -> None:
    """Close run and row, as soon as the database can be used; the text is nowhere else.

    A continuation that brought nothing leaves the row as it was, but for why it failed. Raises Fenced.
    """
    status = outcome.status
    failure = {
        "failure": outcome.failure,
        "failure_detail": outcome.failure_detail[:500],
        "retry_at": outcome.retry_at,
    }
    facts = _facts_of_call(live) | failure
    if live.continued and not (live.has_written or live.gathered.has_tool_calls):
        facts = continuing.call_facts(live.continued)
        if outcome.failure:
            facts |= failure
        else:
            status = Message.Status(live.continued.status)
    try:
        await patiently(
            turns.finish_turn,
            run_id=live.run_id,
            attempt=live.attempt,
            status=status,
            content=live.text,
            **facts,
        )
    finally:  # taken over, or deleted with its chat: it was asked for all the same
        await record_call(live, outcome)
    _tell(live, outcome)


def _tell(live: LiveRun, outcome: Outcome) -> None:
    """In the log and the figures, by ids alone."""
    metrics.runs.labels(outcome.status).inc()
    events.info(
        "run",
        run=live.run_id,
        chat=str(live.chat_id),
        person=live.owner_id,
        outcome=str(outcome.status),
        failure=outcome.failure,
        first_token_seconds=live.first_token_seconds and round(live.first_token_seconds, 2),
        seconds=round((timezone.now() - live.began_at).total_seconds(), 2),
    )


def _facts_of_call(live: LiveRun) -> dict[str, Any]:
    usage = live.gathered.usage
    return {
        "reasoning": live.reasoning,
        "reasoning_milliseconds": live.reasoning_milliseconds,
        "finish_reason": storable(live.gathered.finish_reason[:20]),
        "prompt_tokens": usage.prompt if usage else None,
        "completion_tokens": usage.completion if usage else None,
        "cached_tokens": usage.cached if usage else None,
        "reasoning_tokens": usage.reasoning if usage else None,
    }


async def record_call(live: LiveRun, outcome: Outcome) -> None:
    """In the ledger, and as a lesson for the model's estimates; a failing ledger never fails a reply."""
    usage, model = live.gathered.usage, outcome.model
    written = live.gathered.text + live.gathered.reasoning
    if model is None or not (usage or written or outcome.was_asked):
        return
    estimate = Usage(prompt=outcome.estimated_prompt, completion=estimate_text(written))
    try:
        if usage and usage.prompt:
            await patiently(
                ledger.learn_ratio_of, model=model, recorded=usage.prompt, estimated=outcome.estimated_prompt
            )
        await patiently(
            ledger.record_usage,
            kind=UsageRecord.Kind.REPLY,
            chat_id=live.chat_id,
            owner_id=live.owner_id,
            model=model,
            usage=usage or estimate,
            measured=usage is not None,
        )
    except Error as error:  # the chat was deleted meanwhile, for one
        log.info("The usage of a reply was not recorded: %s", error)
