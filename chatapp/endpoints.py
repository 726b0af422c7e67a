"""The endpoints that come from the environment (the demo engine is one), and what an endpoint says of itself."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chatapp import engine, llm
from chatapp.database import in_database
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
            llm.normal_base_url(settings.OPENAI_BASE_URL or OPENAI),
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
    has_changed = (
        Endpoint.objects.filter(kind__in=NAMES, enabled=True).exclude(kind=wanted.kind).update(enabled=False) > 0
    )
    endpoint = Endpoint.objects.filter(kind=wanted.kind).first() or Endpoint(
        kind=wanted.kind, name=_free_name(NAMES[wanted.kind])
    )
    if not endpoint.base_url.startswith(wanted.base_url):  # the row's may be the longer one that answered
        if endpoint.pk:
            endpoint.models.all().delete()  # another server's models
        endpoint.base_url = wanted.base_url
    endpoint.enabled = endpoint.enabled or has_changed
    endpoint.set_key(wanted.key)
    endpoint.save()
    if wanted.model:
        _name_model(endpoint, wanted)
    return endpoint


def record_probe(endpoint: Endpoint, found: llm.Probe) -> None:
    """Models that are new, windows as reported (0: not told), and when it was asked with what outcome."""
    with transaction.atomic():
        for info in found.models:
            LanguageModel.objects.update_or_create(
                endpoint=endpoint, name=info.name, defaults={"window_reported": info.window} if info.window else {}
            )
        endpoint.check_outcome = "" if found.ok else f"{found.code}: {found.detail}"[:500]
        endpoint.checked_at = timezone.now()
        if found.ok and not endpoint.is_demo:
            endpoint.base_url = found.base_url
        endpoint.save(update_fields=["checked_at", "check_outcome", "base_url"])


async def ask(endpoint: Endpoint) -> llm.Probe | None:
    """Asks an endpoint what it serves and records it; None when the demo engine doesn't come up."""
    base_url = await _engine_url() if endpoint.is_demo else endpoint.base_url
    if not base_url:
        return None
    found = await llm.probe(llm.Target(base_url=base_url, api_key=endpoint.reveal_key(), model=""))
    await in_database(record_probe, endpoint, found)
    if not found.ok:
        log.warning("The endpoint at %s doesn't answer as it should (%s): %s", base_url, found.code, found.detail)
    return found


async def _engine_url() -> str | None:
    # Polled, as the engine's thread knows no event loop; it takes a second.
    for _ in range(int(ENGINE_PATIENCE / 0.1)):
        if base_url := engine.demo_base_url():
            return base_url
        await asyncio.sleep(0.1)
    return None


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
