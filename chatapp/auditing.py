"""The audit log: what is worth a row, written by whoever does it, and pruned when its time is over.

What libraries do (sign-ins, second factors) is heard of through their signals, which are their interface for it; what
Foldline does is recorded where it is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils import timezone

from chatapp.models import AuditEntry, SiteSettings

Action = AuditEntry.Action
Person = AbstractBaseUser | AnonymousUser | None


def record(
    action: Action,
    *,
    request: HttpRequest | None = None,
    actor: Person = None,
    name: str = "",
    target: str = "",
    detail: str = "",
) -> None:
    """One row. `actor` is the request's own person unless it is given; `name` where no account is known to be it."""
    actor = actor or getattr(request, "user", None)
    if actor is not None and actor.is_authenticated:
        name = actor.get_username()
    AuditEntry.objects.create(
        action=action,
        actor=name[:150],
        actor_id=actor.pk if actor is not None else None,
        target=target[:200],
        detail=detail,
        address=address_of(request),
        device=device_of(request),
    )


def address_of(request: HttpRequest | None) -> str | None:
    """Of whoever asks, as the server knows it: behind a proxy Daphne has put the forwarded one here."""
    return (request.META.get("REMOTE_ADDR") or None) if request is not None else None


def device_of(request: HttpRequest | None) -> str:
    return request.META.get("HTTP_USER_AGENT", "")[:200] if request is not None else ""


def told(changes: Iterable[tuple[str, Any, Any]]) -> str:
    """“threshold_percent: 85 → 80, summary_prompt”: what each field was and is, or its name alone for None, None."""
    return ", ".join(
        name if before is None and after is None else f"{name}: {before} → {after}" for name, before, after in changes
    )


def prune() -> int:
    """Rows older than the settings keep them are deleted; how many."""
    days = SiteSettings.get_solo().audit_days
    if not days:
        return 0
    return AuditEntry.objects.filter(created_at__lt=timezone.now() - timedelta(days=days)).delete()[0]
