"""The endpoints that come from the environment (the demo engine is one), and what an endpoint says of itself."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from chatapp import engine, llm
from chatapp.admin import connecting
from chatapp.database import in_database
from chatapp.llm.target import normal_base_url
from chatapp.models import Endpoint, LanguageModel, SiteSettings

log = logging.getLogger("foldline.endpoints")

OPENAI = "https://api.openai.com/v1"
NAMES = {Endpoint.Kind.DEMO: "Demo engine", Endpoint.Kind.ENVIRONMENT: "From the environment"}
ENGINE_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the environment asks for; `model` may be empty, `window` 0 (both then as the endpoint says)."""

    kind: Endpoint.Kind
    base_url: str = ""
    key: str = ""
    model: str = ""
    window: int = 0


def wanted_endpoint() -> Wanted | None:
    if settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY:
        return Wanted(
            Endpoint.Kind.ENVIRONMENT,
            normal_base_url(settings.OPENAI_BASE_URL or OPENAI),
            settings.OPENAI_API_KEY,
            settings.OPENAI_MODEL,
        )
    if engine.is_wanted():
        return Wanted(Endpoint.Kind.DEMO, model=engine.model_name(), window=settings.LOCAL_MODEL_CONTEXT)
    return None


@transaction.atomic
def sync_from_environment() -> Endpoint | None:
    """The row of the endpoint that the environment asks for, made or updated; the other kind is switched off.

    Whoever switches the wanted one off in the admin finds it off after a restart too, until the environment changes.
    """
    wanted = wanted_endpoint()
    if wanted is None:
        return None
    SiteSettings.lock()  # processes that start together take turns: one makes the row, the others find it
    has_changed = (
        Endpoint.objects.filter(kind__in=NAMES, enabled=True).exclude(kind=wanted.kind).update(enabled=False) > 0
    )
    endpoint = Endpoint.objects.filter(kind=wanted.kind).first() or Endpoint(
        kind=wanted.kind, name=_free_name(NAMES[wanted.kind])
    )
    if endpoint.pk and endpoint.base_url != wanted.base_url:
        endpoint.models.all().delete()  # another server's models, of which nothing is known yet
    endpoint.base_url = wanted.base_url
    endpoint.enabled = endpoint.enabled or has_changed
    endpoint.set_key(wanted.key)
    endpoint.save()
    if wanted.model:
        _name_model(endpoint, wanted)
    return endpoint


async def look_into_when_up(endpoint: Endpoint) -> None:
    """Asks the endpoint what it serves, while nobody waits for it; a failure is a line in the log."""
    if endpoint.is_demo and not await _engine_is_up():
        return
    finding = await in_database(connecting.look_into, endpoint, ask=llm.probe, add_models=True)
    if not finding.ok:
        log.warning("%s (%s): %s", endpoint, endpoint.base_url, finding.sentence)


async def find_ollama() -> str | None:
    """The address of an Ollama on this machine that nobody has connected yet."""
    address = await llm.find_ollama()
    if address is None or await in_database(Endpoint.objects.filter(base_url=address).exists):
        return None
    return address


async def _engine_is_up() -> bool:
    # Polled, as the engine's thread knows no event loop; it takes a second.
    for _ in range(int(ENGINE_PATIENCE / 0.1)):
        if engine.demo_base_url():
            return True
        await asyncio.sleep(0.1)
    return False


def _name_model(endpoint: Endpoint, wanted: Wanted) -> None:
    model, _ = LanguageModel.objects.get_or_create(endpoint=endpoint, name=wanted.model)
    if wanted.window:
        model.window_reported = wanted.window
        model.save(update_fields=["window_reported"])
    if endpoint.is_demo:
        # The engine serves one model; with another file the former is gone.
        endpoint.models.exclude(pk=model.pk).delete()
        return
    site = SiteSettings.get_solo()
    if site.default_model is None or site.default_model.endpoint.kind in NAMES:
        site.default_model = model
        site.save(update_fields=["default_model"])


def _free_name(name: str) -> str:
    """An endpoint's name is unique, and somebody may have used ours in the admin."""
    taken = set(Endpoint.objects.filter(name__startswith=name).values_list("name", flat=True))
    return next(free for free in (name, *(f"{name} {n}" for n in range(2, len(taken) + 3))) if free not in taken)
