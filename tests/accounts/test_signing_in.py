"""Signing in and out, and what stands in the way of guessing."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse

from chatapp import settings as real_settings
from chatapp.models import AuditEntry
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"


def sign_in(client: Client, login: str, password: str = PASSWORD, next_page: str = "") -> object:
    return client.post(LOGIN, {"login": login, "password": password} | ({"next": next_page} if next_page else {}))


@pytest.mark.parametrize("login", ["alice", "ALICE", "alice@example.org"])
def test_signing_in_takes_the_name_or_the_email(client: Client, login: str) -> None:
    alice = make_user("alice", email="alice@example.org")

    sign_in(client, login)

    assert client.session["_auth_user_id"] == str(alice.pk)


def test_signing_in_rotates_the_session(client: Client) -> None:
    make_user("alice")
    client.session.save()
    before = client.session.session_key

    sign_in(client, "alice")

    assert client.session.session_key != before


@pytest.mark.parametrize(
    "foreign",
    ["https://evil.example/", "//evil.example/", "http://localhost:9999/", "/\\evil.example", "javascript:alert(1)"],
)
def test_signing_in_never_leads_to_another_host(client: Client, foreign: str) -> None:
    make_user("alice")

    response = sign_in(client, "alice", next_page=foreign)

    assert response.headers["Location"] == reverse("home")


def test_signing_in_leads_back_to_a_local_page(client: Client) -> None:
    make_user("sam", is_staff=True)

    assert sign_in(client, "sam", next_page="/admin/").headers["Location"] == "/admin/"


def test_password_is_stored_as_argon2() -> None:
    with override_settings(PASSWORD_HASHERS=real_settings.PASSWORD_HASHERS):
        assert make_user("alice").password.startswith("argon2$argon2id$")


def test_tenth_failure_closes_the_account_for_that_address(client: Client) -> None:
    make_user("alice")
    for _ in range(9):
        assert sign_in(client, "alice", "wrong").status_code == 200

    tenth, right = sign_in(client, "alice", "wrong"), sign_in(client, "alice")

    assert (tenth.status_code, right.status_code) == (429, 429)
    assert "opens again in a quarter of an hour" in " ".join(right.content.decode().split())
    assert "_auth_user_id" not in client.session
    assert AuditEntry.objects.filter(action="locked_out").count() == 1  # not one for each try


def test_failures_under_every_spelling_count_together(client: Client) -> None:
    make_user("alice", email="alice@example.org")
    for login in ["alice", "Alice", "ALICE", "aLice", "alice@example.org"] * 2:
        sign_in(client, login, "wrong")

    assert sign_in(client, "alIce").status_code == 429


def test_lockout_leaves_other_people_alone(client: Client) -> None:
    make_user("alice")
    bob = make_user("bob")
    for _ in range(10):
        sign_in(client, "alice", "wrong")

    sign_in(client, "bob")

    assert client.session["_auth_user_id"] == str(bob.pk)


def test_lockout_counts_for_the_admin_as_it_has_no_other_door(client: Client) -> None:
    response = client.get("/admin/login/?next=/admin/chatapp/endpoint/")

    assert response.headers["Location"] == f"{LOGIN}?next=/admin/chatapp/endpoint/"
    assert client.post("/admin/login/", {"username": "sam", "password": PASSWORD}).status_code == 302


def test_very_long_name_is_an_ordinary_failure(client: Client) -> None:
    assert sign_in(client, "x" * 100_000).status_code == 200


@pytest.mark.parametrize("page", ["/accounts/logout/", "/admin/logout/"])
def test_signing_out_takes_a_post(page: str) -> None:
    client = signed_in(make_user("sam", is_staff=True))

    client.get(page)
    assert "_auth_user_id" in client.session
    client.post(page)
    assert "_auth_user_id" not in client.session


def test_deactivated_account_is_signed_out_at_once() -> None:
    sam = make_user("sam", is_staff=True)
    client = signed_in(sam)

    User.objects.update(is_active=False)

    assert client.get("/admin/").status_code == 302


def test_account_without_a_password_is_led_to_choose_one(client: Client) -> None:
    user = User.objects.create_user("alice")
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    words = "correct horse battery"

    page = client.get("/accounts/password/change/", follow=True)
    client.post("/accounts/password/set/", {"password1": words, "password2": words})

    assert (page.status_code, page.redirect_chain[-1][0]) == (200, "/accounts/password/set/")
    assert User.objects.get().check_password(words)
