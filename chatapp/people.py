"""Who is meant by what somebody types to sign in."""

from __future__ import annotations

import unicodedata

from django.contrib.auth.models import User
from django.db.models import Q


def account_named(typed: str) -> User | None:
    """Whom a user name or an e-mail means, in any spelling that sign-in takes."""
    typed = in_one_spelling(typed)
    return User.objects.filter(Q(username__iexact=typed) | (Q(email__iexact=typed) & ~Q(email=""))).first()


def in_one_spelling(typed: str) -> str:
    return unicodedata.normalize("NFKC", typed).strip()[:255]
