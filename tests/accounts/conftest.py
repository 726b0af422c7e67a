"""Sign-ins of one test don't count for the next."""

from __future__ import annotations

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def forgotten_attempts() -> None:
    cache.clear()
