"""Signing in by OpenID Connect: who may come in, whose account it is, and who is an administrator.

The rule: an account is the issuer's for good once it is linked by the issuer's id of the person. It is linked by e-mail
only where the issuer says that the address is verified and exactly one account has it; the password and the second
factors of before are then gone and all sessions end, since nobody ever proved that the address was theirs here.
"""

from __future__ import annotations

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chatapp import auditing, second_factors, sign_ins
from chatapp.history.leaving import is_last_administrator
from chatapp.people import account_named

PROVIDER = "issuer"


def name() -> str:
    """What the sign-in page calls the issuer; empty without one."""
    return settings.OIDC_NAME if settings.OIDC_ISSUER else ""


def refusal(request: HttpRequest, reason: str, *, is_recorded: bool = True) -> HttpResponse:
    if is_recorded:
        auditing.record(auditing.Action.SIGN_IN_FAILED, request=request, detail=f"issuer: {reason}")
    return render(request, "account/issuer_refused.html", {"reason": reason, "issuer": name()}, status=403)


class Adapter(DefaultSocialAccountAdapter):
    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        email = _verified_email(sociallogin)
        users = list(User.objects.filter(email__iexact=email)[:2]) if email else []
        return (users[0], email) if len(users) == 1 else None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Raises ImmediateHttpResponse with the page that says why not."""
        told = sociallogin.account.extra_data
        if len({part["sub"] for part in told.values()}) != 1:
            raise ImmediateHttpResponse(refusal(request, "failed"))
        if settings.OIDC_DOMAINS and _verified_email(sociallogin).rpartition("@")[2] not in settings.OIDC_DOMAINS:
            raise ImmediateHttpResponse(refusal(request, "domain"))
        if settings.OIDC_GROUPS and not _groups(sociallogin) & set(settings.OIDC_GROUPS):
            raise ImmediateHttpResponse(refusal(request, "group"))
        user = sociallogin.user
        if user.pk and not sociallogin.account.pk:
            sign_ins.end_all(user)
            second_factors.remove_all(user, request)
            auditing.record(auditing.Action.ACCOUNT_LINKED, request=request, target=f"user: {user.get_username()}")

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Raises ImmediateHttpResponse where the account could be taken for somebody else's."""
        if not settings.OIDC_SIGN_UP:
            return False
        email = _verified_email(sociallogin)
        if not email:
            raise ImmediateHttpResponse(refusal(request, "unverified"))
        if account_named(email):
            raise ImmediateHttpResponse(refusal(request, "taken"))
        return True

    def on_authentication_error(self, request: HttpRequest, provider: Any, error: Any = None, **_: Any) -> None:  # noqa: ARG002 (allauth's signature)
        cancelled = str(getattr(error, "value", error)) == "cancelled"
        raise ImmediateHttpResponse(refusal(request, "cancelled" if cancelled else "failed"))


def _verified_email(sociallogin: SocialLogin) -> str:
    return next((each.email.lower() for each in sociallogin.email_addresses if each.verified), "")


def _groups(sociallogin: SocialLogin) -> set[str]:
    told = sociallogin.account.extra_data
    claims = {**told.get("id_token", {}), **told.get("userinfo", {})}
    listed = claims.get("groups", [])
    return {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set()


def promote(request: HttpRequest, user: User, sociallogin: SocialLogin) -> None:
    """As the group says, once each sign-in is complete; but the last administrator stays one."""
    if not settings.OIDC_STAFF_GROUP:
        return
    is_staff = settings.OIDC_STAFF_GROUP in _groups(sociallogin)
    if user.is_staff == is_staff or is_last_administrator(user):
        return
    detail = auditing.told([("is_staff", user.is_staff, is_staff)])
    user.is_staff = user.is_superuser = is_staff
    user.save(update_fields=["is_staff", "is_superuser"])
    auditing.record(
        auditing.Action.CHANGED,
        request=request,
        target=f"user: {user.get_username()}",
        detail=f"{detail}, by its group",
    )
