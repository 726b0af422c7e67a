"""A browser with somebody on the staff at it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.people import make_user, signed_in


@pytest.fixture
def sam(db: None) -> User:
    return make_user("sam", is_staff=True)


@pytest.fixture
def staff(sam: User) -> Client:
    return signed_in(sam)
