"""Rows of a running server, read and written from beside it: a test needn't click its way to a long chat."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend
from django.test import Client

from chatapp.models import Chat, Message
from tests.factories import make_user
from tests.people import signed_in

Result = TypeVar("Result")


class ServerRows:
    """Runs functions in a thread of its own, whose default database is the server's (Playwright's loop owns ours)."""

    def __init__(self, database: dict[str, Any]) -> None:
        self.database = database
        self.thread = ThreadPoolExecutor(1, "server rows", initializer=self._connect)

    def _connect(self) -> None:
        settings = connections.settings["default"] | self.database
        wrapper: BaseDatabaseWrapper = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, "default")
        connections["default"] = wrapper

    def __call__(self, work: Callable[..., Result], *args: object, **facts: object) -> Result:
        return self.thread.submit(work, *args, **facts).result()

    def close(self) -> None:
        self(_close)
        self.thread.shutdown()

    def sign_in(self, name: str, *, is_staff: bool = False) -> str:
        """A new person's session key."""

        def work() -> str:
            user = make_user(name, is_staff=is_staff, is_superuser=is_staff)
            client: Client = signed_in(user)
            return client.cookies["sessionid"].value

        return self(work)

    def last_text(self, chat_path: str) -> str:
        """What is stored of the last message on the chat's path."""

        def work() -> str:
            last: Message = Chat.objects.get(pk=chat_path.strip("/").split("/")[-1]).messages.on_path().reverse()[0]
            return last.content

        return self(work)


def _close() -> None:
    connections["default"].close()
