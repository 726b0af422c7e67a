"""From a model's row to the address and key that a call needs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from django.conf import settings

from chatapp import engine, sealing
from chatapp.destinations import THIS_MACHINE
from chatapp.llm import Target, errors
from chatapp.models import Endpoint, LanguageModel, SiteSettings

PATIENCE_TENTHS = 50


class NotConnected(errors.EndpointError):
    """There is nothing to call; codes: no_model, engine_down, sealed_with_another_secret."""


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
