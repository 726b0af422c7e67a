"""From a model's row to a call: address and key, and what becomes of it for the circuit of the endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import Error
from django.utils import timezone

from chatapp import engine, sealing
from chatapp.database import in_database
from chatapp.destinations import THIS_MACHINE
from chatapp.history import circuits
from chatapp.llm import Target, deltas, errors
from chatapp.models import Endpoint, LanguageModel, SiteSettings

log = logging.getLogger("foldline.endpoints")

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_TENTHS = 50
NOT_GOT_THROUGH = frozenset({"unreachable", "no_first_token"})
# Nobody was asked.
OURS = frozenset({"private_address", "never_called"})


class NotConnected(errors.EndpointError):
    """There is nothing to call; codes: no_model, engine_down, sealed_with_another_secret."""


class EndpointRests(errors.EndpointBusy):
    """It didn't answer the last calls and is left alone; nothing was asked."""

    def __init__(self, until: datetime) -> None:
        super().__init__((until - timezone.now()).total_seconds())
        self.code = "endpoint_rests"


@dataclass(slots=True)
class Call:
    """One call to `target`; `hears` is told what comes, as an endpoint that was in trouble has got over it."""

    target: Target
    endpoint: Endpoint
    has_answered: bool = False

    async def hears(self, event: deltas.Event) -> None:
        if not self.has_answered and not isinstance(event, deltas.Waiting):
            await self.is_answered()

    async def is_answered(self) -> None:
        self.has_answered = True
        if self.endpoint.is_in_trouble:
            await _noted(circuits.note_answer, self.endpoint.pk)


@asynccontextmanager
async def calling(model: LanguageModel, site: SiteSettings, *, insists: bool = False) -> AsyncIterator[Call]:
    """A way to the model, for one call. Raises NotConnected, and EndpointRests unless a person `insists`.

    An error that passes through is noted where it means that the endpoint didn't get as far as an answer; of a call
    that a person insists on only an answer is, so that nobody can keep an endpoint closed.
    """
    call = Call(await reach(model, site), model.endpoint)
    if model.endpoint.rests_until and not insists:
        until = await _noted(circuits.admit, model.endpoint.pk)
        if until:
            raise EndpointRests(until)
    try:
        yield call
    except errors.EndpointError as error:
        if call.has_answered or error.code in OURS:
            pass
        elif _got_through(error):
            await call.is_answered()
        elif not insists:
            await _noted(circuits.note_failure, model.endpoint.pk, error.code, error.detail)
        raise
    if not call.has_answered:
        await call.is_answered()


def _got_through(error: errors.EndpointError) -> bool:
    """A refusal is an answer, one that is busy says so at once, and a 500 may be due to what one person asks."""
    is_away = isinstance(error, errors.EndpointFailed) and error.is_away
    return not is_away and error.code not in NOT_GOT_THROUGH


async def _noted(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """A circuit is a convenience: where the database is away, calls are made as ever."""
    try:
        return await in_database(function, *args, **kwargs)
    except Error as error:
        log.info("The circuit of an endpoint was not kept: %s", error)
        return None


def connected(model: LanguageModel | None) -> LanguageModel:
    """The model itself. Raises NotConnected where there is none."""
    if model is None:
        raise NotConnected("no_model")
    return model


async def reach(model: LanguageModel, site: SiteSettings) -> Target:
    """As target_of, with a few seconds of patience for a demo engine that is just starting. Raises NotConnected."""
    for _ in range(PATIENCE_TENTHS):
        if not model.endpoint.is_demo or engine.demo_base_url():
            break
        await asyncio.sleep(0.1)
    return target_of(model, site)


def target_of(model: LanguageModel, site: SiteSettings) -> Target:
    """Raises NotConnected: the engine is starting again, or the stored key can't be read."""
    return replace(
        way_to(model.endpoint),
        model=model.name,
        first_token_seconds=site.first_token_seconds,
        idle_seconds=site.stall_seconds,
    )


def way_to(endpoint: Endpoint) -> Target:
    """Address and key, without a model. Raises NotConnected as target_of does."""
    base_url = engine.demo_base_url() if endpoint.is_demo else endpoint.base_url
    if not base_url:
        raise NotConnected("engine_down")
    try:
        key = endpoint.reveal_key()
    except sealing.CannotUnseal as wrong:
        raise NotConnected("sealed_with_another_secret") from wrong
    destinations = THIS_MACHINE if endpoint.is_demo else settings.ENDPOINT_DESTINATIONS
    return Target(base_url=base_url, api_key=key, model="", destinations=destinations)
