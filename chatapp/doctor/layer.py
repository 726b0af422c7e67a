"""Whether what one process says reaches another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from django.conf import settings

from chatapp import events
from chatapp.doctor.findings import Finding, broken, fine
from chatapp.logs import words_of

SUBJECT = "layer"
REMEDY = "Start Valkey, or set REDIS_URL right. Until then pages of other processes learn of changes by asking."


def examine() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield fine(SUBJECT, "Events stay in the one process (no REDIS_URL).")
        return
    try:
        outcome = asyncio.run(events.check_layer())
    except Exception as error:  # noqa: BLE001 (the client has many, and a wrong password is one of them)
        outcome = words_of(error)
    if outcome == "ok":
        yield fine(SUBJECT, "A message through it comes back.")
    else:
        yield broken(SUBJECT, f"The channel layer {outcome}.", REMEDY)
