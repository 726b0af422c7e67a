"""Hears from Django, allauth and axes what the audit log has to know of; nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.signals import user_signed_up
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from axes.signals import user_locked_out
from django.contrib.auth import signals as django_auth
from django.contrib.auth.models import AbstractBaseUser, User
from django.http import HttpRequest

from chatapp import auditing
from chatapp.auditing import Action
from chatapp.people import account_named


def begin() -> None:
    """Once, when the models are there."""
    django_auth.user_logged_in.connect(signed_in)
    django_auth.user_logged_out.connect(signed_out)
    django_auth.user_login_failed.connect(sign_in_failed)
    user_locked_out.connect(locked_out)
    user_signed_up.connect(signed_up)
    mfa.authenticator_added.connect(factor_added)
    mfa.authenticator_reset.connect(factor_added)
    mfa.authenticator_removed.connect(factor_removed)
    mfa.authentication_failed.connect(factor_failed)


def signed_in(request: HttpRequest, user: AbstractBaseUser, **_: Any) -> None:
    auditing.record(Action.SIGNED_IN, request=request, actor=user)


def signed_out(request: HttpRequest, user: AbstractBaseUser | None, **_: Any) -> None:
    if user is not None:
        auditing.record(Action.SIGNED_OUT, request=request, actor=user)


def sign_in_failed(credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Only an account's name is told: what else was typed there may be a password in the wrong field."""
    typed = str(credentials.get("username") or credentials.get("email") or "")
    auditing.record(Action.SIGN_IN_FAILED, request=request, name=_known(typed))


def locked_out(username: str | None, request: HttpRequest | None = None, **_: Any) -> None:
    """Told of each try while it holds, too; only the one that closed the door was counted."""
    if getattr(request, "axes_failures_since_start", None) is not None:
        auditing.record(Action.LOCKED_OUT, request=request, name=_known(username or ""))


def signed_up(request: HttpRequest, user: User, **_: Any) -> None:
    auditing.record(Action.ACCOUNT_MADE, request=request, actor=user, target=f"user: {user.get_username()}")


def factor_added(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    auditing.record(Action.FACTOR_ADDED, request=request, actor=user, detail=authenticator.type)


def factor_removed(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    auditing.record(Action.FACTOR_REMOVED, request=request, actor=user, detail=authenticator.type)


def factor_failed(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    auditing.record(Action.FACTOR_FAILED, request=request, actor=user, detail=authenticator.type)


def _known(typed: str) -> str:
    account = account_named(typed)
    return account.get_username() if account else ""
