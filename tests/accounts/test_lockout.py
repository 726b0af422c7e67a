"""Guessing is braked whatever it claims to be, and keeps out neither a whole proxy nor the owner of an account."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth import hashers
from django.contrib.auth.models import User
from django.test import Client

from chatapp import hashing, lockout
from chatapp.accounts import NewAccountForm
from chatapp.models import SiteSettings
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"
PROXY = "203.0.113.1"


def status(login: str, password: str = "wrong", *, client: Client | None = None, **headers: str) -> int:
    """Of one try, by a browser that nobody knows unless it is said."""
    client = client or Client()
    headers.setdefault("REMOTE_ADDR", PROXY)
    return client.post(LOGIN, {"login": login, "password": password}, **headers).status_code


def known_browser(name: str) -> Client:
    client = Client()
    assert status(name, PASSWORD, client=client) == 302
    client.post("/accounts/logout/")
    return client


@pytest.fixture(autouse=True)
def few_tries(settings: Any) -> None:
    """Three in place of ten, as each takes its time; what allauth counts by address has a test of its own."""
    settings.AXES_FAILURE_LIMIT = 3
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login": None}


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_X_FORWARDED_FOR": "198.51.100.{}"},
        {"HTTP_X_REAL_IP": "198.51.100.{}"},
        {"HTTP_FORWARDED": "for=198.51.100.{}"},
        {"HTTP_USER_AGENT": "agent {}"},
        {"REMOTE_ADDR": "2001:db8:1:2:{}::1"},
        {"HTTP_COOKIE": "foldline_device=forged{}"},
    ],
)
def test_no_header_and_no_address_of_one_network_buys_further_tries(headers: dict[str, str]) -> None:
    make_user("alice")
    names = ["alice", "ALICE", "ａｌｉｃｅ", "alice "]

    for number in range(2):
        assert status(names[number % 4], **{k: v.format(number) for k, v in headers.items()}) == 200
    assert status("alice", **{k: v.format(99) for k, v in headers.items()}) == 429
    assert status("alice", PASSWORD, **{k: v.format(100) for k, v in headers.items()}) == 429


def test_guesses_from_many_addresses_close_the_account_to_strangers_and_not_to_its_owner() -> None:
    make_user("alice")
    bobs = known_browser(make_user("bob").username)
    own = known_browser("alice")

    tries = [status("alice", REMOTE_ADDR=f"198.51.{n}.7") for n in range(18)]

    assert (tries.count(200), tries.count(429)) == (14, 4)
    assert status("alice", PASSWORD, REMOTE_ADDR="192.0.2.1") == 429
    assert status("alice", PASSWORD, client=bobs) == 429
    assert status("alice", PASSWORD, client=own, REMOTE_ADDR="192.0.2.1") == 302


def test_owner_behind_the_address_of_the_guesser_is_let_in_and_so_is_everybody_else() -> None:
    make_user("alice")
    make_user("bob")
    own = known_browser("alice")
    for _ in range(4):
        status("alice")

    assert status("alice", PASSWORD) == 429
    assert status("alice", PASSWORD, client=own) == 302
    assert status("bob", PASSWORD) == 302


def test_known_browser_has_as_many_tries_as_any_other() -> None:
    make_user("alice")
    own = known_browser("alice")
    for _ in range(3):
        status("alice", client=own)

    assert status("alice", PASSWORD, client=own) == 429
    assert status("alice", PASSWORD) == 302


def test_cookie_of_a_browser_names_nobody_and_opens_nothing() -> None:
    alice = make_user("alice")
    own = known_browser("alice")
    cookie = own.cookies[lockout.COOKIE]

    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert "alice" not in cookie.value
    assert "_auth_user_id" not in own.session
    assert status("alice", client=own) == 200
    assert alice.check_password(PASSWORD)


def test_no_account_can_be_named_as_the_email_of_another() -> None:
    """Else its owner's own sign-in would forgive the guesses that were made at the other."""
    SiteSettings.objects.update_or_create(defaults={"sign_up_open": True})
    make_user("alice", email="alice@example.org")
    bob = {"username": "Alice@example.org", "email": "", "password1": PASSWORD, "password2": PASSWORD}

    Client().post("/accounts/signup/", bob)
    form = NewAccountForm(bob)
    swapped = NewAccountForm(bob | {"username": "carol", "email": "ALICE"})

    assert User.objects.count() == 1
    assert "username" in form.errors
    assert "email" in swapped.errors


def test_sign_ups_from_one_address_are_throttled() -> None:
    SiteSettings.objects.update_or_create(defaults={"sign_up_open": True})

    def sign_up(number: int) -> int:
        form = {"username": f"bob{number}", "email": "", "password1": PASSWORD, "password2": PASSWORD}
        return Client(REMOTE_ADDR=f"2001:db8:1:2::{number:x}").post("/accounts/signup/", form).status_code

    answers = [sign_up(number) for number in range(1, 9)]

    assert answers == [302] * 5 + [429] * 3
    assert User.objects.count() == 5


def test_password_is_not_guessed_where_it_is_changed() -> None:
    client = signed_in(make_user("alice"))
    form = {"oldpassword": "wrong", "password1": "the pier has a lamp", "password2": "the pier has a lamp"}

    answers = [client.post("/accounts/password/change/", form).status_code for _ in range(7)]

    assert answers == [200] * 5 + [429] * 2


def test_flood_of_sign_ins_hashes_two_passwords_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = []
    running = threading.Semaphore(100)

    def encode(*_: Any) -> str:
        with running:
            at_once.append(100 - running._value)
            threading.Event().wait(0.01)
        return "argon2$"

    monkeypatch.setattr(hashers.Argon2PasswordHasher, "encode", encode)
    hasher = hashing.Argon2PasswordHasher()

    with ThreadPoolExecutor(20) as people:
        list(people.map(lambda _: hasher.encode("x", "salt"), range(20)))

    assert max(at_once) <= 2
