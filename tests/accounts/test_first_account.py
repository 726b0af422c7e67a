"""The one-time set-up link: once, for one person, and never again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from chatapp import accounts
from tests.people import PASSWORD, make_user

FORM = {"username": "alice", "email": "", "password1": PASSWORD, "password2": PASSWORD}


def link() -> str:
    return reverse("setup", args=[accounts.setup_link_token()])


@pytest.mark.django_db
def test_token_is_the_same_after_a_restart() -> None:
    assert accounts.setup_link_token() == accounts.setup_link_token() != None  # noqa: E711


@pytest.mark.django_db
def test_token_is_none_once_any_account_exists() -> None:
    make_user("alice")

    assert accounts.setup_link_token() is None


@pytest.mark.django_db
def test_link_makes_the_administrator_signs_in_and_goes_home(client: Client) -> None:
    response = client.post(link(), FORM)

    alice = User.objects.get()
    assert response.headers["Location"] == reverse("home")
    assert (alice.username, alice.is_staff, alice.is_superuser) == ("alice", True, True)
    assert client.session["_auth_user_id"] == str(alice.pk)


@pytest.mark.django_db
def test_link_rotates_the_session(client: Client) -> None:
    client.session.save()
    before = client.session.session_key

    client.post(link(), FORM)

    assert client.session.session_key != before


@pytest.mark.django_db
def test_used_link_answers_like_a_random_one(client: Client) -> None:
    used = link()
    client.post(used, FORM)
    stranger = Client()

    other = reverse("setup", args=["x" * 40])
    again, random = stranger.get(used), stranger.get(other)

    assert (again.status_code, random.status_code) == (404, 404)
    assert again.content.replace(used.encode(), b"") == random.content.replace(other.encode(), b"")
    assert stranger.post(used, FORM | {"username": "mallory"}).status_code == 404


@pytest.mark.django_db
def test_random_link_is_404_while_no_account_exists(client: Client) -> None:
    assert client.post(reverse("setup", args=["x"]), FORM).status_code == 404
    assert not User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"password2": "something else"}, "The two password fields didn’t match."),
        ({"password1": "alice", "password2": "alice"}, "too short"),
        ({"username": "a b"}, "Enter a valid username"),
        ({"email": "nobody"}, "Enter a valid email address."),
    ],
)
def test_form_says_what_is_wrong_and_makes_nobody(client: Client, wrong: dict[str, str], sentence: str) -> None:
    response = client.post(link(), FORM | wrong)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert PASSWORD not in response.content.decode()
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_link_opened_by_six_at_once_makes_one_administrator() -> None:
    token, people = accounts.setup_link_token() or "", 6
    together = Barrier(people)

    def open_it(number: int) -> bool:
        connection.ensure_connection()  # so that nobody is late by having to connect
        together.wait()
        try:
            accounts.redeem(token, username=f"person{number}", email="", password=PASSWORD)
        except accounts.SetUpClosed:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(people) as pool:
        made = list(pool.map(open_it, range(people)))

    assert sorted(made) == [False] * 5 + [True]
    assert User.objects.count() == 1
