"""Each endpoint's circuit: after three calls in a row that didn't get through, it is left alone for a while.

It is a matter of two columns, so all processes share it and a restart remembers it. Once the pause is over one call
alone is let through; what becomes of it ends the pause or begins a longer one.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatapp.models import Endpoint

log = logging.getLogger("foldline.endpoints")

OPENS_AFTER = 3
FIRST_PAUSE_SECONDS = 15
LONGEST_PAUSE_SECONDS = 240
MOST_COUNTED = 1_000


def admit(endpoint_id: int) -> datetime | None:
    """None where a call may be made now, else from when on one may.

    Of many that ask when the pause is over one gets through; the others wait for what it finds, at most a pause long.
    """
    now = timezone.now()
    endpoint = Endpoint.objects.filter(pk=endpoint_id).first()
    if endpoint is None or endpoint.rests_until is None:
        return None
    if endpoint.rests_until > now:
        return endpoint.rests_until
    failures = min(endpoint.failures + 1, MOST_COUNTED)  # until it is known better
    anew = now + _pause(failures)
    unclaimed = Endpoint.objects.filter(pk=endpoint_id, rests_until=endpoint.rests_until)
    is_first = unclaimed.update(rests_until=anew, failures=failures)
    return None if is_first else anew


@transaction.atomic
def note_failure(endpoint_id: int, code: str, detail: str) -> None:
    """A call that didn't get through is the endpoint's last answer, too.

    One that had begun before the pause, or in spite of it, makes the pause no longer.
    """
    endpoint = Endpoint.objects.select_for_update().filter(pk=endpoint_id).first()
    if endpoint is None:
        return
    endpoint.checked_at, endpoint.check_outcome = timezone.now(), f"{code}: {detail}"[:500]
    is_resting = endpoint.rests_until is not None and endpoint.rests_until > endpoint.checked_at
    if not is_resting:
        endpoint.failures = min(endpoint.failures + 1, MOST_COUNTED)
    if endpoint.failures >= OPENS_AFTER and not is_resting:
        endpoint.rests_until = endpoint.checked_at + _pause(endpoint.failures)
        log.warning("%s didn't answer %s calls in a row; it is left alone for a while.", endpoint, endpoint.failures)
    endpoint.save(update_fields=["failures", "rests_until", "checked_at", "check_outcome"])


def note_answer(endpoint_id: int) -> None:
    """A call got through."""
    Endpoint.objects.filter(pk=endpoint_id).update(
        failures=0, rests_until=None, checked_at=timezone.now(), check_outcome=""
    )
    log.info("The endpoint %s answers again.", endpoint_id)


def _pause(failures: int) -> timedelta:
    doublings = min(max(0, failures - OPENS_AFTER), 10)
    return timedelta(seconds=min(FIRST_PAUSE_SECONDS * 2**doublings, LONGEST_PAUSE_SECONDS))
