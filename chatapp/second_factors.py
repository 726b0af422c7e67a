"""The second factor: codes of an app, recovery codes and passkeys by allauth; what Foldline adds and asks for.

Secrets are sealed like endpoint keys, wrong codes are counted in the database for all processes, and administrators may
be asked for one before the settings open.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from chatapp import auditing, sealing
from chatapp.models import AuditEntry, SiteSettings

# An attacker who has the password gets so many tries, from whatever address; each guesses one of a million.
MOST_WRONG_CODES = 10
COUNTED_FOR = timedelta(minutes=15)
REAL = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes alone are none
SEALED = ("secret", "seed")


class Adapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return sealing.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return sealing.unseal(encrypted_text)
        except sealing.CannotUnseal as lost:
            raise ValidationError(_("The secret of this Foldline has changed: ask whoever runs it.")) from lost

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:  # noqa: A002, ARG002 (allauth's signature)
        return str(_("Passkey"))


class _Counted:
    """Refuses every code while too many of this account were wrong; right ones too, or guessing would go on."""

    user: User

    def clean_code(self) -> str:
        """One code of an account at a time, or a burst would get past the count; the count outlives the refusal."""
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=self.user.pk)
            try:
                return self._counted_code()
            except ValidationError as wrong:
                refusal = wrong
        raise refusal

    def _counted_code(self) -> str:
        lately = AuditEntry.objects.filter(created_at__gt=timezone.now() - COUNTED_FOR)
        wrong = lately.filter(action=AuditEntry.Action.FACTOR_FAILED, actor_id=self.user.pk)
        if wrong.count() >= MOST_WRONG_CODES:
            raise ValidationError(_("Too many wrong codes. Try again in a quarter of an hour."))
        return str(super().clean_code())  # type: ignore[misc]


class CodeForm(_Counted, AuthenticateForm):
    """At sign-in; `code` of the app or for recovery."""


class ConfirmingForm(_Counted, ReauthenticateForm):
    """To confirm that it is still the same person."""


class PasskeyForm(AddWebAuthnForm):
    """A passkey that signs in by itself: kept by the device, opened by finger, face or PIN."""

    passwordless = None
    name = forms.CharField(label=_("Name"), max_length=60, required=False, help_text=_("To tell it from others."))

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["passwordless"] = True
        return dict(super().clean())


def has_one(user: User) -> bool:
    return bool(Authenticator.objects.filter(user=user, type__in=REAL).exists())


def is_asked_of(user: User) -> bool:
    """Whether this person has to have one."""
    return user.is_staff and SiteSettings.get_solo().second_factor_for_staff


def opens_settings(request: HttpRequest) -> bool:
    """Whether nothing is asked for, or it was given in this very session."""
    user = request.user
    if any(record["method"] == "mfa" for record in get_authentication_records(request, user)):
        return True
    return not (isinstance(user, User) and is_asked_of(user))


def way_to(request: HttpRequest, page: str) -> str:
    """Where somebody is led who wants `page` and has given none: to give it, or to set one up first."""
    methods = get_adapter().get_reauthentication_methods(request.user)
    # The last is the passkey, where there is one: a code is a link away from there.
    given = [method["url"] for method in methods if method["id"].startswith("mfa_")]
    if given and has_one(request.user):  # type: ignore[arg-type]
        return f"{given[-1]}?{urlencode({'next': page})}"
    return reverse("mfa_index")


@transaction.atomic
def remove_all(user: User, request: HttpRequest | None = None) -> int:
    """Where they are lost, or may be a stranger's; how many there were, which the audit log tells."""
    count = int(Authenticator.objects.filter(user=user).delete()[0])
    if count:
        target = f"user: {user.get_username()}"
        auditing.record(AuditEntry.Action.FACTOR_REMOVED, request=request, target=target, detail=f"all: {count}")
    return count


def reseal_all() -> tuple[int, list[str]]:
    """Every secret under the newest seal: how many, and whose no seal opens. Inside a transaction."""
    sealed_anew, unreadable = 0, []
    for row in Authenticator.objects.select_related("user").order_by("pk").select_for_update(of=("self",)):
        for part in SEALED:
            if part not in row.data:
                continue
            try:
                row.data[part] = sealing.reseal(row.data[part])
            except sealing.CannotUnseal:
                unreadable.append(f"{row.user.get_username()} (second factor)")
                continue
            row.save(update_fields=["data"])
            sealed_anew += 1
    return sealed_anew, unreadable
