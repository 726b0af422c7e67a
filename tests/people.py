"""Who appears in the tests: alice owns, charlie is a stranger, sam is on the staff."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

PASSWORD = "a lamp on the pier"


def make_user(name: str, *, email: str = "", is_staff: bool = False) -> User:
    return User.objects.create_user(name, email, PASSWORD, is_staff=is_staff, is_superuser=is_staff)


def known(client: Client) -> Client:
    """The same after its first visit, which is the one that is noted; for tests that count queries."""
    client.get("/offline/")
    return client


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
