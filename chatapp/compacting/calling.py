"""One call to the summariser: asked, judged, counted. What it is asked is decided elsewhere."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from chatapp.database import in_database
from chatapp.history import compactions, ledger
from chatapp.llm import Completion, Target, complete
from chatapp.models import LanguageModel, UsageRecord
from compaction.judging import Verdict, judge
from compaction.request import RequestMessage, as_payload
from compaction.transcript import Usage

log = logging.getLogger("foldline.compacting")

TEMPERATURE = 0.2
# A small model that gave no summary gives the same again at the same one.
SECOND_TEMPERATURE = 0.7


class Rejected(Exception):
    """The summariser's answers were judged unfit; `code` says why (rules F)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Summariser:
    """Whom a compaction asks, and for which row its calls are counted."""

    compaction_id: int
    chat_id: UUID
    model: LanguageModel
    target: Target

    async def ask(
        self, request: tuple[RequestMessage, ...], *, budget: int, temperature: float = TEMPERATURE
    ) -> Completion:
        """Raises EndpointError, Fenced."""
        completion = await complete(self.target, as_payload(request), max_tokens=budget, temperature=temperature)
        await in_database(compactions.note_call, compaction_id=self.compaction_id, usage=completion.usage)
        if completion.usage:
            await self._record_usage(completion.usage)
        return completion

    async def summarise(self, request: tuple[RequestMessage, ...], *, budget: int, source: str, tries: int = 2) -> str:
        """A summary that was judged fit; one retry at most. Raises Rejected, EndpointError, Fenced."""
        for temperature in (TEMPERATURE, SECOND_TEMPERATURE)[-tries:]:
            completion = await self.ask(request, budget=budget, temperature=temperature)
            verdict = judged(completion, budget=budget, source=source)
            if verdict.ok:
                return verdict.text
        raise Rejected(verdict.code)

    async def _record_usage(self, usage: Usage) -> None:
        """A failing ledger never fails a compaction (rule I5)."""
        try:
            record = await in_database(
                ledger.record_usage,
                kind=UsageRecord.Kind.COMPACTION,
                chat_id=self.chat_id,
                model=self.model,
                usage=usage,
                measured=True,
            )
            if record.cost is not None:
                await in_database(compactions.note_cost, compaction_id=self.compaction_id, cost=record.cost)
        except Exception:
            log.exception("Usage of a compaction could not be recorded.")


def judged(completion: Completion, *, budget: int, source: str) -> Verdict:
    return judge(
        completion.text,
        finish_reason=completion.finish_reason,
        tool_calls=completion.tool_calls,
        reasoning_only=bool(completion.reasoning and not completion.text.strip()),
        budget=budget,
        source_text=source,
    )
