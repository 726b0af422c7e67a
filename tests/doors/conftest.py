"""The application on the test's own loop, as in tests/chatapp."""

from tests.chatapp.conftest import endpoint

__all__ = ["endpoint"]
