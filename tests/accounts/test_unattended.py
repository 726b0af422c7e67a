"""DJANGO_SUPERUSER_USERNAME, _EMAIL and _PASSWORD."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chatapp.accounts import BadUnattendedAccount, make_unattended_superuser
from tests.people import PASSWORD, make_user

pytestmark = pytest.mark.django_db


def environ(**parts: str) -> dict[str, str]:
    return {f"DJANGO_SUPERUSER_{part.upper()}": value for part, value in parts.items()}


def test_nothing_set_makes_nobody() -> None:
    assert make_unattended_superuser({}) is None
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("parts", "username", "email"),
    [
        ({"username": "root", "email": "r@example.org"}, "root", "r@example.org"),
        ({"username": "root"}, "root", ""),
        ({"email": "ruth@example.org"}, "ruth", "ruth@example.org"),
    ],
)
def test_account_is_made_of_what_is_there(parts: dict[str, str], username: str, email: str) -> None:
    make_unattended_superuser(environ(**parts, password=PASSWORD))

    user = User.objects.get()
    assert (user.username, user.email, user.is_superuser) == (username, email, True)
    assert user.check_password(PASSWORD)


def test_second_start_changes_nothing() -> None:
    make_unattended_superuser(environ(username="root", password=PASSWORD))
    before = User.objects.values().get()

    assert make_unattended_superuser(environ(username="root", password="another one entirely")) is None
    assert User.objects.values().get() == before


def test_account_of_that_name_is_not_promoted() -> None:
    make_user("root")

    make_unattended_superuser(environ(username="Root", password=PASSWORD))

    assert not User.objects.get().is_superuser


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"username": "root"}, "DJANGO_SUPERUSER_PASSWORD"),
        ({"email": "r@example.org"}, "DJANGO_SUPERUSER_PASSWORD"),
        ({"password": PASSWORD}, "DJANGO_SUPERUSER_USERNAME"),
        ({"username": "a b", "password": PASSWORD}, "DJANGO_SUPERUSER_USERNAME"),
        ({"username": "root", "email": "nobody", "password": PASSWORD}, "DJANGO_SUPERUSER_EMAIL"),
        ({"username": "root", "password": "hunter2"}, "DJANGO_SUPERUSER_PASSWORD"),
    ],
)
def test_value_that_cannot_be_right_is_named_without_the_password(parts: dict[str, str], named: str) -> None:
    with pytest.raises(BadUnattendedAccount) as complaint:
        make_unattended_superuser(environ(**parts))

    assert named in str(complaint.value)
    assert parts.get("password", "-") not in str(complaint.value).replace("-", "")
    assert not User.objects.exists()
