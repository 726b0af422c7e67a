"""Who may make an account, how the first one is made, and what a failed sign-in is counted under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from chatapp import auditing, issuers, lockout, sign_ins, unsent
from chatapp.models import SiteSettings


class SetUpClosed(Exception):
    """The token is wrong, or somebody has made the first account already."""


class BadUnattendedAccount(ValueError):
    """DJANGO_SUPERUSER_… can't be right; the text is one sentence a variable, and never holds the password."""


class AccountAdapter(DefaultAccountAdapter):
    # The page that follows shows that it worked.
    NEEDLESS_MESSAGES = {"account/messages/logged_in.txt", "account/messages/logged_out.txt"}

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002 (allauth's signature)
        return sign_up_open()

    def clean_username(self, username: str, shallow: bool = False) -> str:  # noqa: FBT001, FBT002 (allauth's signature)
        return free_username(super().clean_username(username, shallow))

    def get_client_ip(self, request: HttpRequest) -> str:
        """Tries are counted as failed sign-ins are: a known browser by itself, IPv6 by the network."""
        return lockout.address_of(request)

    def post_login(self, request: HttpRequest, user: User, **facts: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **facts)
        lockout.remember(request, response, user)
        unsent.take_back(request, user)
        if sociallogin := (facts["signal_kwargs"] or {}).get("sociallogin"):
            issuers.promote(request, user, sociallogin)
        return response

    def set_password(self, user: User, password: str) -> None:
        """Whoever knew the former one is out; allauth keeps the session in which it was changed."""
        super().set_password(user, password)
        sign_ins.end_all(user)
        target = f"user: {user.get_username()}"
        auditing.record(auditing.Action.PASSWORD_CHANGED, request=self.request, actor=user, target=target)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Who has neither a password nor a second factor has nothing to confirm with."""
        required = super().is_reauthentication_required(app=app, **kwargs)
        return required and bool(self.get_reauthentication_methods(self.request.user))

    def is_safe_url(self, url: str | None) -> bool:
        """Only this very host: allauth would also send people to every allowed one, on whatever serves there."""
        request = self.request
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        )

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        if message_template not in self.NEEDLESS_MESSAGES:
            super().add_message(request, level, message_template, *args, **kwargs)


class NewAccountForm(UserCreationForm):
    """User name, e-mail (may stay empty), password twice; the validators of the settings apply."""

    class Meta:
        model = User
        fields = ["username", "email"]
        labels = {"username": _("User name"), "email": _("E-mail")}
        help_texts = {
            "username": _("Letters, digits and @ . + - _"),
            "email": _("May stay empty. It can be used to sign in; Foldline sends no mail."),
        }

    def clean_email(self) -> str:
        return free_email(self.cleaned_data["email"], but=self.instance)

    def clean_username(self) -> str:
        return free_username(super().clean_username(), but=self.instance)


def free_email(email: str, *, but: User) -> str:
    """The address, which signs in one account only; ValidationError where another one has it."""
    others = User.objects.exclude(pk=but.pk)
    if email and others.filter(Q(email__iexact=email) | Q(username__iexact=email)).exists():
        raise ValidationError(_("Another account has this e-mail."))
    return email


def free_username(username: str, *, but: User | None = None) -> str:
    """The name, by which nobody else can be meant; ValidationError where it is the e-mail of another account.

    Failed sign-ins would else be counted for the one, and tried on the other.
    """
    others = User.objects.exclude(pk=but.pk) if but else User.objects.all()
    if username and others.filter(email__iexact=username).exists():
        raise ValidationError(_("Another account has this name as its e-mail."))
    return username


def sign_up_open() -> bool:
    return SiteSettings.get_solo().sign_up_open


def no_account_yet() -> bool:
    return not User.objects.exists()


def setup_link_token() -> str | None:
    """The token of the one-time set-up link, or None once any account exists.

    Derived from the secret, so every process and every restart prints the same working link and nothing is stored.
    """
    return _derived_token() if no_account_yet() else None


def redeem(token: str, *, username: str, email: str, password: str) -> User:
    """Makes the first account, an administrator. Of two people at once one gets it, the other SetUpClosed."""
    with transaction.atomic():
        SiteSettings.lock()
        if not opens_setup(token):
            raise SetUpClosed
        return User.objects.create_superuser(username, email, password)


def opens_setup(token: str) -> bool:
    return constant_time_compare(token, _derived_token()) and no_account_yet()


def make_unattended_superuser(environ: Mapping[str, str]) -> User | None:
    """Makes the administrator that DJANGO_SUPERUSER_USERNAME, _EMAIL and _PASSWORD name, unless the account exists.

    Without a user name the part before the @ is taken. An account that exists is left as it is, its password too.
    None when there was nothing to make; raises BadUnattendedAccount.
    """
    username, email, password = (
        environ.get(f"DJANGO_SUPERUSER_{part}", "") for part in ("USERNAME", "EMAIL", "PASSWORD")
    )
    username, email = username.strip(), email.strip()
    if not (username or email or password):
        return None
    if not (username or email):
        raise BadUnattendedAccount("DJANGO_SUPERUSER_PASSWORD is set, but no DJANGO_SUPERUSER_USERNAME to go with it.")
    username = username or email.partition("@")[0]
    with transaction.atomic():
        SiteSettings.lock()
        if User.objects.filter(username__iexact=username).exists():
            return None
        _check_unattended(username, email, password)
        return User.objects.create_superuser(username, email, password)


def _check_unattended(username: str, email: str, password: str) -> None:
    if not password:
        raise BadUnattendedAccount(f"DJANGO_SUPERUSER_PASSWORD is missing: “{username}” can't be made without one.")
    form = NewAccountForm({"username": username, "email": email, "password1": password, "password2": password})
    if form.is_valid():
        return
    variables = {"username": "USERNAME", "email": "EMAIL", "password1": "PASSWORD", "password2": "PASSWORD"}
    raise BadUnattendedAccount(
        " ".join(
            f"DJANGO_SUPERUSER_{variables[name]}: {' '.join(map(str, problems))}"
            for name, problems in form.errors.items()
        )
    )


def _derived_token() -> str:
    return salted_hmac("foldline set-up link", "first account", algorithm="sha256").hexdigest()[:40]
