"""`manage.py resetpassword NAME`: a way back in for whoever is locked out, the only administrator too."""

from __future__ import annotations

from getpass import getpass
from typing import Any

from allauth.account import app_settings as allauth_settings
from allauth.account.utils import user_pk_to_url_str
from axes.utils import reset
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from chatapp import addresses, auditing, second_factors, sign_ins
from chatapp.auditing import Action
from chatapp.people import account_named


class Command(BaseCommand):
    help = "Prints a link, good once and for an hour, under which the account's password is set anew; opens lock-outs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The user name or e-mail of the account.")
        parser.add_argument("--ask", action="store_true", help="Ask for the new password here instead.")

        parser.add_argument(
            "--remove-second-factors", action="store_true", help="Remove app, passkeys and recovery codes as well."
        )

    def handle(self, *, name: str, ask: bool, remove_second_factors: bool, **_: Any) -> None:
        user = account_named(name)
        if user is None:
            raise CommandError(f"There is no account “{name}”.")
        reset(username=user.get_username().casefold())
        if remove_second_factors:
            count = second_factors.remove_all(user)
            self.stdout.write(f"Removed second factors: {count}.")
        if ask:
            self.set_password(user)
        else:
            self.print_link(user)
        if not user.is_active:
            self.stdout.write("The account is closed; an administrator opens it under Users (the tick “active”).")

    def print_link(self, user: User) -> None:
        token = allauth_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
        way = reverse("account_reset_password_from_key", args=[user_pk_to_url_str(user), token])
        auditing.record(Action.RESET_LINK_MADE, target=f"user: {user.get_username()}")
        here = addresses.to_print(settings.PUBLIC_URL, settings.HOST, settings.PORT)[0]
        self.stdout.write(f"Good once and for an hour: {here.rstrip('/')}{way}")

    def set_password(self, user: User) -> None:
        password = getpass("New password: ")
        if password != getpass("Again: "):
            raise CommandError("The two were not the same. Nothing was changed.")
        try:
            validate_password(password, user)
        except ValidationError as weak:
            raise CommandError(" ".join(weak.messages)) from weak
        user.set_password(password)
        user.save(update_fields=["password"])
        sign_ins.end_all(user)
        auditing.record(Action.PASSWORD_CHANGED, target=f"user: {user.get_username()}")
        self.stdout.write(f"The password of {user.get_username()} is set.")
