"""Whom failed sign-ins keep out: an account from an address, a guessed account from everywhere, never a known browser.

Axes counts in the database, for all processes; what it counts under is said here.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from chatapp.people import account_named, in_one_spelling

COOKIE = "foldline_device"
COOKIE_SECONDS = 31_536_000
MOST_PEOPLE = 5
_SALT = "foldline device"
# So many times the failures that close an account to one address close it to all browsers that it doesn't know.
ACCOUNT_TIMES = 5
# Of IPv6 a provider hands out whole networks: who has one address there has them all.
PREFIX = 64


class Handler(AxesDatabaseHandler):
    """Axes' own count by account and address, and beside it one by account alone, for guesses from many addresses."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        from_here: int = super().get_failures(request, credentials)
        name = get_client_username(request, credentials)
        if device_of(request, account_named(name or "")):
            return from_here
        since = timezone.now() - timedelta(hours=settings.AXES_COOLOFF_TIME)
        recent = AccessAttempt.objects.filter(username=name, attempt_time__gte=since)
        from_anywhere = recent.aggregate(number=Sum("failures_since_start"))["number"] or 0
        return max(from_here, from_anywhere // ACCOUNT_TIMES)


def name_of(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str:
    """One name for every spelling of an account: sign-in ignores case and takes the e-mail too."""
    typed = in_one_spelling((credentials or {}).get("username") or request.POST.get("login", ""))
    account = account_named(typed)
    return (account.get_username() if account else typed).casefold()[:255]


def address_of(request: HttpRequest) -> str:
    """Under what a sign-in is counted: its client's address, of IPv6 its network.

    A browser that has been signed in to the account has a made-up one of its own (in fd00::/8, which no provider hands
    out), so nobody can keep it out, from the same address either.
    """
    if device := device_of(request, account_named(request.POST.get("login", ""))):
        digest = hashlib.sha256(device.encode()).digest()
        return str(IPv6Address(b"\xfd" + digest[:15]))
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0])
    except ValueError:
        return "0.0.0.0"  # noqa: S104 (counted under, not bound: a server at a Unix socket knows no address)
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((address, PREFIX), strict=False).network_address)
    return str(address)


def remember(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """From now on this browser is one that this account knows. It opens nothing: a password is still asked for."""
    device, people = _read(request)
    people = [user.pk, *(pk for pk in people if pk != user.pk)][:MOST_PEOPLE]
    response.set_cookie(
        COOKIE,
        signing.dumps([device or secrets.token_urlsafe(16), people], salt=_SALT),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def device_of(request: HttpRequest, account: User | None) -> str:
    """The id of this browser, if it has been signed in to that account; else empty."""
    device, people = _read(request)
    return device if account and account.pk in people else ""


def _read(request: HttpRequest) -> tuple[str, list[int]]:
    try:
        device, people = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return "", []
    return device, people
