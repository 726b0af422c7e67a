"""`manage.py rotate_keys`: seals every stored key with the newest secret, after which the former ones can go."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from chatapp import auditing, sealing, second_factors
from chatapp.models import Endpoint


class Command(BaseCommand):
    help = "Seals every stored endpoint key with SECRET_KEY; what SECRET_KEY_FALLBACKS can open is read for it."

    def handle(self, **_: Any) -> None:
        sealed_anew, unreadable = rotate_keys()
        auditing.record(
            auditing.Action.KEYS_ROTATED, detail=f"sealed anew: {sealed_anew}, unreadable: {len(unreadable)}"
        )
        self.stdout.write(f"Sealed with the newest secret: {sealed_anew} of {sealed_anew + len(unreadable)} keys.")
        if unreadable:
            raise CommandError(
                f"Neither SECRET_KEY nor SECRET_KEY_FALLBACKS opens the key of: {', '.join(unreadable)}. "
                "Add the secret it was stored with to SECRET_KEY_FALLBACKS, or enter the key again in the admin."
            )


@transaction.atomic
def rotate_keys() -> tuple[int, list[str]]:
    """How many were sealed anew, and the names of the endpoints whose keys no secret opens; those stay as they are."""
    sealed_anew, unreadable = 0, []
    for endpoint in Endpoint.objects.exclude(sealed_key="").order_by("name").select_for_update():
        try:
            endpoint.sealed_key = sealing.reseal(endpoint.sealed_key)
        except sealing.CannotUnseal:
            unreadable.append(endpoint.name)
            continue
        endpoint.save(update_fields=["sealed_key"])
        sealed_anew += 1
    factors, lost = second_factors.reseal_all()
    return sealed_anew + factors, unreadable + lost
