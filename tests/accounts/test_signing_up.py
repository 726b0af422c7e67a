"""Sign-up is closed until the admin opens it, and pages that would need mail aren't there."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chatapp.models import SiteSettings
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
SIGNUP = "/accounts/signup/"
FORM = {"username": "bob", "email": "", "password1": PASSWORD, "password2": PASSWORD}


def test_sign_up_is_closed_by_default(client: Client) -> None:
    assert "closed" in client.get(SIGNUP).content.decode().lower()

    client.post(SIGNUP, FORM)

    assert not User.objects.exists()


def test_sign_up_opened_in_the_admin_makes_a_plain_account(client: Client) -> None:
    SiteSettings.objects.update(sign_up_open=True)

    client.post(SIGNUP, FORM | {"is_staff": "on", "is_superuser": "on"})

    bob = User.objects.get()
    assert (bob.username, bob.is_staff, bob.is_superuser) == ("bob", False, False)


def test_sign_up_refuses_the_email_of_another_account(client: Client) -> None:
    SiteSettings.objects.update(sign_up_open=True)
    make_user("alice", email="alice@example.org")

    client.post(SIGNUP, FORM | {"email": "ALICE@example.org"})

    assert not User.objects.filter(username="bob").exists()


def test_lost_password_page_says_whom_to_ask(client: Client) -> None:
    assert "manage.py resetpassword" in client.get("/accounts/password/reset/").content.decode()


@pytest.mark.parametrize("page", ["email/", "confirm-email/", "login/code/", "reauthenticate/"])
def test_page_that_needs_mail_is_not_there(page: str) -> None:
    assert signed_in(make_user("alice")).get(f"/accounts/{page}").status_code == 404


def test_password_change_keeps_this_session_and_ends_the_others() -> None:
    alice = make_user("alice")
    here, elsewhere = signed_in(alice), signed_in(alice)

    here.post(
        "/accounts/password/change/",
        {"oldpassword": PASSWORD, "password1": "the pier has a lamp", "password2": "the pier has a lamp"},
    )

    assert here.get("/accounts/password/change/").status_code == 200
    assert elsewhere.get("/accounts/password/change/").status_code == 302
