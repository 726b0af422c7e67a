"""Where people are signed in: noted as they come by, listed for them, and ended.

To end one is to delete its session; whatever hangs on that (requests, open sockets) finds it gone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone

from chatapp.auditing import address_of, device_of
from chatapp.models import SignIn

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

SECONDS_BETWEEN_NOTES = 300


def note(request: HttpRequest) -> None:
    """That this browser was here; written at most every five minutes a process, or when its address has changed."""
    session_key = request.session.session_key
    if not session_key:
        return
    seen = f"seen:{hashlib.sha256(f'{session_key} {address_of(request)}'.encode()).hexdigest()}"
    if cache.get(seen) is not None or not request.user.is_authenticated:
        return
    SignIn.objects.update_or_create(
        session_key=session_key,
        defaults={
            "user": request.user,
            "address": address_of(request),
            "device": device_of(request),
            "last_seen_at": timezone.now(),
        },
    )
    cache.set(seen, "", SECONDS_BETWEEN_NOTES)


def of_person(user: AbstractBaseUser) -> list[SignIn]:
    """Those that still hold, the last seen first."""
    return list(SignIn.objects.for_user(user).filter(session_key__in=_live()).order_by("-last_seen_at", "-pk"))


@transaction.atomic
def end(*, user: AbstractBaseUser, sign_in_id: int) -> int:
    """One of the person's own; how many were ended."""
    return _end(list(SignIn.objects.for_user(user).filter(pk=sign_in_id).values_list("session_key", flat=True)))


@transaction.atomic
def end_all(user: AbstractBaseUser, *, but: str | None = None) -> int:
    """All of a person's, except the session of the key `but`; how many were ended."""
    return _end(
        list(SignIn.objects.for_user(user).exclude(session_key=but or "").values_list("session_key", flat=True))
    )


@transaction.atomic
def end_everybodys() -> None:
    """All there are, as a backup may bring back some that were ended since."""
    Session.objects.all().delete()
    SignIn.objects.all().delete()


def forget_ended() -> None:
    """Sessions whose time is over, and the rows beside sessions that are gone."""
    Session.objects.filter(expire_date__lte=timezone.now()).delete()
    # Not by "not in": PostgreSQL compares each with each once they don't fit into its working memory.
    SignIn.objects.exclude(Exists(_live().filter(session_key=OuterRef("session_key")))).delete()


def _end(session_keys: list[str]) -> int:
    Session.objects.filter(session_key__in=session_keys).delete()
    SignIn.objects.filter(session_key__in=session_keys).delete()
    return len(session_keys)


def _live() -> Any:
    return Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
