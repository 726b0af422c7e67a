"""The application on the test's own loop, as tests/chatapp has it."""

from tests.chatapp.conftest import alice, endpoint

__all__ = ["alice", "endpoint"]
