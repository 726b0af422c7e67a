"""One call to the summariser: asked, judged, counted. What it is asked is decided elsewhere."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from chatapp import connecting, events
from chatapp.compacting.counting import complete_counted
from chatapp.database import patiently
from chatapp.history import loading, ongoing
from chatapp.history.loading import Situation
from chatapp.llm import Completion
from chatapp.models import Chat, LanguageModel, SiteSettings, UsageRecord
from compaction.judging import Verdict, judge
from compaction.planning import Plan
from compaction.request import RequestMessage

log = logging.getLogger("foldline.compacting")

TEMPERATURE = 0.2
# A small model that gave no summary gives the same again at the same one.
SECOND_TEMPERATURE = 0.7
# What says how an answer to the person is to look; all else makes the prompt what the endpoint has cached.
ANSWER_OPTIONS = frozenset({"max_tokens", "stop"})


class Rejected(Exception):
    """The summariser's answers were judged unfit; `code` says why (rules F)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Summariser:
    """Whom a compaction asks, and for which row its calls are counted."""

    compaction_id: int
    chat: Chat
    model: LanguageModel
    site: SiteSettings

    async def ask(
        self,
        request: tuple[RequestMessage, ...],
        *,
        budget: int,
        temperature: float = TEMPERATURE,
        params: dict[str, Any] | None = None,
    ) -> Completion:
        """`params`: the chat's own options, where its request is prolonged. Raises EndpointError, Fenced."""
        completion, record = await complete_counted(
            UsageRecord.Kind.COMPACTION,
            self.chat,
            self.model,
            self.site,
            request,
            params=without_answer_options(params or {}),
            max_tokens=budget,
            temperature=temperature,
        )
        await patiently(ongoing.note_call, compaction_id=self.compaction_id, usage=completion.usage)
        if record and record.measured and record.cost is not None:
            await self._note_cost(record.cost)
        return completion

    async def summarise(self, request: tuple[RequestMessage, ...], *, budget: int, source: str, tries: int = 2) -> str:
        """A summary that was judged fit; one retry at most. Raises Rejected, EndpointError, Fenced."""
        for temperature in (TEMPERATURE, SECOND_TEMPERATURE)[-tries:]:
            completion = await self.ask(request, budget=budget, temperature=temperature)
            verdict = judged(completion, budget=budget, source=source)
            if verdict.ok:
                return verdict.text
        raise Rejected(verdict.code)

    async def _note_cost(self, cost: Decimal) -> None:
        try:
            await patiently(ongoing.note_cost, compaction_id=self.compaction_id, cost=cost)
        except Exception:
            log.exception("What a compaction cost could not be recorded.")


def without_answer_options(params: dict[str, Any]) -> dict[str, Any]:
    """A chat's options for a call that prolongs its request and wants plain text (rule E1)."""
    return {name: value for name, value in params.items() if name not in ANSWER_OPTIONS}


async def summariser_for(compaction_id: int, situation: Situation, *, model: LanguageModel | None = None) -> Summariser:
    """`model`, else the admin's summariser while it is usable, else the chat's own (rule E8). Raises EndpointError."""
    chosen = model or await patiently(loading.summariser_of, situation.site, situation.model)
    connected = connecting.connected(chosen)
    await connecting.reach(connected, situation.site)  # what can't be asked isn't announced either
    return Summariser(compaction_id, situation.chat, connected, situation.site)


def judged(completion: Completion, *, budget: int, source: str) -> Verdict:
    return judge(
        completion.text,
        finish_reason=completion.finish_reason,
        tool_calls=completion.tool_calls,
        reasoning_only=bool(completion.reasoning and not completion.text.strip()),
        budget=budget,
        source_text=source,
    )


async def announce(compaction_id: int, situation: Situation, plan: Plan, *, model_name: str) -> None:
    """What is about to be done, for the row and for every open page. Raises Fenced."""
    meter = situation.meter()
    await patiently(
        ongoing.note_plan,
        compaction_id=compaction_id,
        plan=plan,
        model_name=model_name,
        tokens_before=meter.used,
        before_is_measured=meter.measured,
        window_tokens=situation.limits.window,
    )
    await events.publish(situation.chat.pk, events.Changed())
