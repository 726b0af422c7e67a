"""Whether each endpoint can be reached with the key that is stored, and what it serves."""

from __future__ import annotations

from collections.abc import Iterator

from chatapp import llm
from chatapp.admin import connecting
from chatapp.doctor.findings import Finding, broken, fine, look
from chatapp.models import Endpoint


def examine() -> Iterator[Finding]:
    enabled = list(Endpoint.objects.filter(enabled=True).order_by("name"))
    if not enabled:
        yield look("endpoints", "None is switched on, so nobody is answered.", "Add one in the admin.")
    for endpoint in enabled:
        if not endpoint.is_demo:  # that is the server's own, at an address that it alone knows
            yield _examine(endpoint)


def _examine(endpoint: Endpoint) -> Finding:
    subject = f"endpoint {endpoint.name}"
    found = connecting.ask_endpoint(endpoint, ask=llm.probe)
    if not found.ok:
        return broken(subject, found.sentence, "See Endpoints in the admin.")
    served = {model.name for model in found.offered}
    missing = endpoint.models.filter(enabled=True).exclude(name__in=served).values_list("name", flat=True)
    if missing:
        return look(
            subject, f"It answers, but no longer serves {', '.join(missing)[:200]}.", "Switch them off, or load them."
        )
    return fine(subject, f"It answers and serves {len(served)} models.")
