"""Codes of an app and recovery codes, and the settings that open for administrators who have given one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings

from chatapp.models import AuditEntry, SiteSettings
from tests.accounts.codes import SECRET, code, recovery_codes, with_app
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
LOGIN, SECOND, OWN = "/accounts/login/", "/accounts/login/second-factor/", "/accounts/second-factor/"


@pytest.fixture
def sam() -> User:
    return make_user("sam", is_staff=True)


@pytest.fixture
def asked() -> None:
    SiteSettings.objects.update_or_create(defaults={"second_factor_for_staff": True})


def sign_in(client: Client, user: User, second: str | None = None) -> Client:
    client.post(LOGIN, {"login": user.get_username(), "password": PASSWORD})
    if second is not None:
        client.post(SECOND, {"code": second})
    return client


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_app_is_set_up_with_a_confirmed_password_and_codes_for_recovery(
    client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    alice = make_user("alice")
    sign_in(client, alice)

    asked = client.get(f"{OWN}app/", follow=True)
    assert asked.redirect_chain[-1][0].startswith("/accounts/confirm/")
    client.post("/accounts/confirm/", {"password": PASSWORD})
    page = client.get(f"{OWN}app/")
    with django_capture_on_commit_callbacks(execute=True):
        done = client.post(f"{OWN}app/", {"code": code(page.context["form"].secret)}, follow=True)

    assert 'src="data:image/svg+xml;base64,' in page.content.decode()
    assert done.redirect_chain[-1][0] == f"{OWN}codes/"
    assert all(each in done.content.decode() for each in recovery_codes(alice))
    assert len(recovery_codes(alice)) == 10
    added = AuditEntry.objects.filter(action="factor_added").values_list("detail", flat=True)
    assert sorted(added) == ["recovery_codes", "totp"]


def test_password_alone_no_longer_signs_in(client: Client) -> None:
    alice = with_app(make_user("alice"))

    assert not is_in(sign_in(client, alice))
    assert not is_in(sign_in(client, alice, "000000"))
    assert client.get("/").status_code == 302
    assert is_in(sign_in(client, alice, code()))


def test_code_is_good_once(client: Client) -> None:
    alice = with_app(make_user("alice"))
    used = code()

    assert is_in(sign_in(client, alice, used))
    assert not is_in(sign_in(Client(), alice, used))


def test_recovery_code_is_good_once(client: Client) -> None:
    alice = with_app(make_user("alice"))
    first = recovery_codes(alice)[0]

    assert is_in(sign_in(client, alice, first))
    assert not is_in(sign_in(Client(), alice, first))
    assert len(recovery_codes(alice)) == 9


def test_wrong_codes_are_counted_for_all_addresses_and_then_right_ones_are_refused() -> None:
    alice = with_app(make_user("alice"))
    for number in range(10):
        sign_in(Client(REMOTE_ADDR=f"10.0.0.{number}"), alice, "000000")

    client = Client()
    sign_in(client, alice)
    refused = client.post(SECOND, {"code": code()})

    assert "Too many wrong codes" in refused.content.decode()
    assert not is_in(client)
    assert AuditEntry.objects.filter(action="factor_failed", actor="alice").count() == 10


@pytest.mark.django_db(transaction=True)
def test_burst_of_codes_gets_no_further_than_one_after_the_other() -> None:
    alice = with_app(make_user("alice"))
    clients = [sign_in(Client(), alice) for _ in range(20)]

    def guess(client: Client) -> None:
        try:
            client.post(SECOND, {"code": "000000"})
        finally:
            connection.close()

    with ThreadPoolExecutor(len(clients)) as burst:
        list(burst.map(guess, clients))

    assert AuditEntry.objects.filter(action="factor_failed", actor="alice").count() == 10


def test_secrets_are_sealed_and_sealed_anew_when_the_secret_changes(client: Client) -> None:
    alice = with_app(make_user("alice"))
    codes = recovery_codes(alice)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))

    assert SECRET not in stored
    with override_settings(SECRET_KEY="the new one" * 5, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        call_command("rotate_keys", stdout=StringIO())
    with override_settings(SECRET_KEY="the new one" * 5, SECRET_KEY_FALLBACKS=[]):
        assert recovery_codes(alice) == codes
        assert is_in(sign_in(client, alice, code()))


def test_lost_secret_is_a_sentence_and_no_way_in(client: Client) -> None:
    alice = with_app(make_user("alice"))

    with override_settings(SECRET_KEY="another" * 8, SECRET_KEY_FALLBACKS=[]):
        sign_in(client, alice)
        page = client.post(SECOND, {"code": code()})
        assert "ask whoever runs it" in page.content.decode()
        assert not is_in(client)


def test_removed_app_takes_the_recovery_codes_along(client: Client) -> None:
    alice = with_app(make_user("alice"))
    sign_in(client, alice, code())
    client.post("/accounts/confirm/", {"password": PASSWORD})

    client.post(f"{OWN}app/remove/")

    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.filter(action="factor_removed", actor="alice").count() == 2


def test_resetpassword_can_remove_them_all(sam: User) -> None:
    with_app(sam)

    call_command("resetpassword", "sam", "--remove-second-factors", stdout=StringIO())

    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.filter(action="factor_removed", target="user: sam").exists()


# Asked of administrators


ADMIN = ["", "chatapp/sitesettings/", "chatapp/auditentry/export/", "auth/user/add/", "jsi18n/", "nowhere/"]


@pytest.mark.parametrize("page", ADMIN)
def test_settings_lead_to_setting_one_up_first(sam: User, asked: None, page: str) -> None:
    client = signed_in(sam)

    response = client.get(f"/admin/{page}", follow=True)

    assert response.redirect_chain[-1][0] == OWN
    assert "Administrators need a second factor" in response.content.decode()
    assert client.get("/").status_code == 200


def test_nothing_is_changed_without_one(sam: User, asked: None) -> None:
    client = signed_in(sam)

    client.post("/admin/auth/user/add/", {"username": "bob", "password1": PASSWORD, "password2": PASSWORD})
    client.post("/admin/login/", {"username": "sam", "password": PASSWORD})

    assert not User.objects.filter(username="bob").exists()
    assert client.get("/admin/").status_code == 302


def test_settings_open_for_who_signed_in_with_one(client: Client, sam: User, asked: None) -> None:
    sign_in(client, with_app(sam), code())

    assert client.get("/admin/").status_code == 200


def test_session_from_before_is_asked_for_a_code(sam: User, asked: None) -> None:
    client = signed_in(sam)
    with_app(sam)

    asking = client.get("/admin/chatapp/endpoint/", follow=True).redirect_chain[-1][0]
    opened = client.post(asking, {"code": code(), "next": "/admin/chatapp/endpoint/"}, follow=True)

    assert asking == "/accounts/confirm/code/?next=%2Fadmin%2Fchatapp%2Fendpoint%2F"
    assert opened.redirect_chain[-1][0] == "/admin/chatapp/endpoint/"
    assert opened.status_code == 200


def test_password_in_place_of_the_code_opens_nothing(sam: User, asked: None) -> None:
    client = signed_in(sam)
    with_app(sam)

    client.post("/accounts/confirm/", {"password": PASSWORD})

    assert client.get("/admin/").status_code == 302


def test_nobody_else_is_asked(asked: None) -> None:
    client = signed_in(make_user("alice"))

    assert "Administrators need" not in client.get(OWN).content.decode()
    assert client.get("/admin/", follow=True).status_code == 403


def test_switched_off_nothing_is_asked_of_administrators(sam: User) -> None:
    assert signed_in(sam).get("/admin/").status_code == 200
