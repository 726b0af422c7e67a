"""How the tests of faults call an endpoint: one call, everything it brought, and no waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from chatapp.llm import Gathered, Patience, Target, stream_chat
from chatapp.llm.deltas import Event, ReasoningDelta, TextDelta, UsageSeen, Waiting
from chatapp.llm.errors import EndpointError
from tests.scripted import ScriptedEndpoint

KEY = "sk-test-0123456789abcdef"
HELLO = [{"role": "user", "content": "Hello"}]


@dataclass
class Outcome:
    events: list[Event] = field(default_factory=list)
    error: EndpointError | None = None
    gathered: Gathered = field(default_factory=Gathered)

    @property
    def text(self) -> str:
        return self.gathered.text

    @property
    def reasoning(self) -> str:
        return self.gathered.reasoning

    @property
    def finish_reason(self) -> str:
        return self.gathered.finish_reason

    @property
    def code(self) -> str:
        return self.error.code if self.error else ""

    @property
    def detail(self) -> str:
        return self.error.detail if self.error else ""

    @property
    def waits(self) -> list[Waiting]:
        return [event for event in self.events if isinstance(event, Waiting)]

    @property
    def usages(self) -> list[UsageSeen]:
        return [event for event in self.events if isinstance(event, UsageSeen)]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, (TextDelta, ReasoningDelta))]


def target_of(endpoint: ScriptedEndpoint, **options: Any) -> Target:
    return Target(endpoint.base_url, options.pop("key", KEY), "scripted", **options)


async def no_sleep(seconds: float) -> None:
    pass


AT_ONCE = Patience(sleep=no_sleep, chance=lambda: 0.5)


async def call(endpoint: ScriptedEndpoint, *, patience: Patience = AT_ONCE, **options: Any) -> Outcome:
    """One call; what came before an error is kept beside it."""
    body = {name: options.pop(name) for name in ("max_tokens", "temperature", "params") if name in options}
    return await outcome_of(stream_chat(target_of(endpoint, **options), HELLO, patience=patience, **body))


async def outcome_of(events: AsyncIterator[Event]) -> Outcome:
    outcome = Outcome()
    try:
        async with aclosing(events) as stream:  # type: ignore[type-var]
            async for event in stream:
                outcome.events.append(event)
                outcome.gathered.take(event)
    except EndpointError as error:
        outcome.error = error
    return outcome
