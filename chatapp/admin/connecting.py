"""Asks an endpoint what it serves, and learns models and context windows from the answer (rule A1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from chatapp.connecting import NotConnected, way_to
from chatapp.destinations import Forbidden, look_up
from chatapp.llm import ModelInfo, Probe, Target
from chatapp.models import Endpoint, LanguageModel

Ask = Callable[[Target], Awaitable[Probe]]

# An endpoint with more models than this would flood the picker, so its new ones come in switched off.
PICKER_LIMIT = 20
SAVING_SECONDS = 5  # that a name server may take


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of asking: a code when it failed, otherwise what is served and what that changed here."""

    ok: bool
    code: str = ""
    detail: str = ""
    offered: tuple[ModelInfo, ...] = ()
    added: tuple[str, ...] = ()
    switched_off: bool = False
    vanished: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return render_to_string("admin/chatapp/endpoint/outcome.txt", {"finding": self}).strip()

    @property
    def is_ours(self) -> bool:
        """Whether we refused to ask: its detail is an address, and nobody's words."""
        return self.code in {"private_address", "never_called"}

    @property
    def without_window(self) -> str:
        return _first([model.name for model in self.offered if not model.window], most=3)

    @property
    def with_window(self) -> str:
        known = [model for model in self.offered if model.window][:5]
        words = gettext("%(name)s %(number)s tokens")
        return ", ".join(words % {"name": model.name, "number": intcomma(model.window)} for model in known)

    @property
    def no_longer_offered(self) -> str:
        return _first(list(self.vanished), most=5)


def look_into(endpoint: Endpoint, *, ask: Ask, add_models: bool) -> Finding:
    """Asks the endpoint, stores windows, time and outcome, and with `add_models` the models that are new here."""
    finding = ask_endpoint(endpoint, ask=ask)
    if finding.ok:
        finding = _learn(endpoint, finding.offered, add_models=add_models)
    endpoint.checked_at = timezone.now()
    endpoint.check_outcome = "" if finding.ok else f"{finding.code}: {finding.detail}"[:500]
    if finding.ok:
        endpoint.failures, endpoint.rests_until = 0, None
    endpoint.save(update_fields=["base_url", "checked_at", "check_outcome", "failures", "rests_until"])
    return finding


def refusal_of(host: str) -> Finding:
    """Why an endpoint may not be there, as far as is known now; each call looks again."""
    try:
        settings.ENDPOINT_DESTINATIONS.checked(host, look_up(host, 0).result(SAVING_SECONDS))
    except Forbidden as forbidden:
        return Finding(ok=False, code=forbidden.code, detail=forbidden.address)
    except (OSError, UnicodeError, TimeoutError):
        pass  # a server that isn't there yet may be entered
    return Finding(ok=True)


def answer_of(endpoint: Endpoint) -> str:
    """The last answer in words, from what is stored of it."""
    if not endpoint.checked_at:
        return gettext("not asked yet")
    if not endpoint.check_outcome:
        return gettext("connected")
    code, _, detail = endpoint.check_outcome.partition(": ")
    sentence = Finding(ok=False, code=code, detail=detail).sentence
    return f"{sentence} {_rest_of(endpoint)}".strip()


def _rest_of(endpoint: Endpoint) -> str:
    if endpoint.rests_until is None:
        return ""
    words = ngettext(
        "%(number)s call in a row didn’t get through; the next is made from %(time)s on, or by “Retry”.",
        "%(number)s calls in a row didn’t get through; the next is made from %(time)s on, or by “Retry”.",
        endpoint.failures,
    )
    time = date_format(timezone.localtime(endpoint.rests_until), "TIME_FORMAT")
    return words % {"number": endpoint.failures, "time": time}


def ask_endpoint(endpoint: Endpoint, *, ask: Ask) -> Finding:
    """What it serves; nothing is stored."""
    try:
        target = way_to(endpoint)
    except NotConnected as reason:
        return Finding(ok=False, code=reason.code)
    probe = async_to_sync(ask)(target)
    if not probe.ok:
        return Finding(ok=False, code=probe.code, detail=probe.detail)
    if endpoint.kind == Endpoint.Kind.ADMIN and probe.base_url:
        endpoint.base_url = probe.base_url  # the address that answered: with /v1 where that was missing
    return Finding(ok=True, offered=tuple(model for model in probe.models if _is_storable(model)))


@transaction.atomic
def _learn(endpoint: Endpoint, offered: tuple[ModelInfo, ...], *, add_models: bool) -> Finding:
    known = {model.name: model for model in endpoint.models.select_for_update()}
    for model in offered:
        row = known.get(model.name)
        if row and model.window and row.window_reported != model.window:
            row.window_reported = model.window
            row.save(update_fields=["window_reported"])
    new = {model.name: model for model in offered if model.name not in known} if add_models else {}
    switched_off = len(new) > PICKER_LIMIT
    LanguageModel.objects.bulk_create(
        [
            LanguageModel(endpoint=endpoint, name=name, window_reported=model.window, enabled=not switched_off)
            for name, model in new.items()
        ],
        ignore_conflicts=True,
    )
    vanished = sorted(known.keys() - {model.name for model in offered})
    return Finding(ok=True, offered=offered, added=tuple(new), switched_off=switched_off, vanished=tuple(vanished))


def _first(names: list[str], *, most: int) -> str:
    listed = ", ".join(names[:most])
    return gettext("%(names)s and others") % {"names": listed} if len(names) > most else listed


def _is_storable(model: ModelInfo) -> bool:
    return 0 < len(model.name) <= 200 and model.name.isprintable()
