"""A person at the whole application: posts, pages and the socket on the test's own event loop, no server process."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import AsyncClient

from chatapp import events
from chatapp.asgi import application
from chatapp.consumers import LIST_IS_ANOTHER
from chatapp.database import in_database
from chatapp.models import Chat, Compaction, LanguageModel, Message, Run
from chatapp.runs import host
from tests.factories import make_model, make_user
from tests.scripted import ScriptedEndpoint

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
SECONDS = 10


@dataclass
class Visitor:
    user: User
    client: AsyncClient
    endpoint: ScriptedEndpoint

    @classmethod
    async def arrive(cls, endpoint: ScriptedEndpoint, name: str = "") -> Visitor:
        user = await in_database(make_user, name)
        client = AsyncClient()
        await client.aforce_login(user, backend=BACKEND)
        return cls(user, client, endpoint)

    async def post(self, address: str, *, htmx: bool = True, **fields: Any) -> HttpResponse:
        headers = {"HX-Request": "true"} if htmx else {}
        return await self.client.post(address, fields, headers=headers)

    async def start(self, text: str, **fields: Any) -> Chat:
        """A new chat; the reply may still be writing."""
        response = await self.post("/chats/", text=text, htmx=False, **fields)
        assert response.status_code == 302, response.content.decode()
        return await in_database(Chat.objects.get, pk=response["Location"].split("/")[2])

    async def send(self, chat: Chat, text: str, **fields: Any) -> HttpResponse:
        return await self.post(f"/chats/{chat.pk}/send/", text=text, **fields)

    async def say(self, chat: Chat, text: str) -> Message:
        """Send, and wait for the end of the reply."""
        response = await self.send(chat, text)
        assert response.status_code == 200, response.content.decode()
        await settled(chat)
        return await last_message(chat)

    async def page(self, chat: Chat, query: str = "") -> str:
        response = await self.client.get(f"/chats/{chat.pk}/{query}")
        assert response.status_code == 200
        return response.content.decode()

    @asynccontextmanager
    async def socket(
        self, chat: Chat, *, seen: int = 0, origin: str = "http://testserver", language: str = ""
    ) -> AsyncIterator[Socket]:
        cookie = f"sessionid={self.client.cookies['sessionid'].value}"
        headers = [(b"cookie", cookie.encode()), (b"origin", origin.encode()), (b"host", b"testserver")]
        address = f"/ws/chats/{chat.pk}/?seen={seen}&language={language}"
        communicator = WebsocketCommunicator(application, address, headers)
        connected, _ = await communicator.connect(timeout=SECONDS)
        try:
            yield Socket(communicator, connected=connected)
        finally:
            await communicator.disconnect()


@dataclass
class Socket:
    """What a page's socket gets; `text` is what the page would show of the reply by the frames alone."""

    communicator: WebsocketCommunicator
    connected: bool
    frames: int = 0

    async def next(self) -> str:
        """What comes next for the chat; that the list is another is heard by `told_of_list` alone."""
        while (html := await self.communicator.receive_from(timeout=SECONDS)) == LIST_IS_ANOTHER:
            pass
        self.frames += "data-frame" in html
        return html

    async def until(self, words: str) -> str:
        """The first push that holds `words`."""
        while words not in (html := await self.next()):
            pass
        return html

    async def told_of_list(self) -> None:
        while await self.communicator.receive_from(timeout=SECONDS) != LIST_IS_ANOTHER:
            pass

    async def closed(self) -> int:
        """The code that it is closed with; what came before is passed over."""
        while (output := await self.communicator.receive_output(timeout=SECONDS))["type"] != "websocket.close":
            pass
        code: int = output["code"]
        return code

    async def acknowledge(self, *, seen: int, **more: Any) -> None:
        await self.communicator.send_to(json.dumps({"seen": seen, "frames": self.frames, **more}))


async def settled(chat: Chat, *, seconds: float = SECONDS) -> None:
    """No run and no compaction of the chat is live, no message is about to be sent, and no title is being made."""
    changed = asyncio.Event()
    unsubscribe = events.subscribe(chat.pk, lambda _: changed.set())
    try:
        async with asyncio.timeout(seconds):
            while await in_database(_is_busy, chat):
                await changed.wait()
                changed.clear()
            while host._tasks:
                await asyncio.gather(*host._tasks.values())
    finally:
        unsubscribe()


def _is_busy(chat: Chat) -> bool:
    live = {"chat": chat}
    return Run.objects.live().filter(**live).exists() or Compaction.objects.live().filter(**live).exists()


async def last_message(chat: Chat) -> Message:
    return await in_database(lambda: chat.messages.on_path().reverse()[0])


async def refreshed(chat: Chat) -> Chat:
    return await in_database(Chat.objects.select_related("compacted_through").get, pk=chat.pk)


async def compactions_of(chat: Chat) -> list[Compaction]:
    return await in_database(lambda: list(chat.compactions.order_by("pk")))


async def model_at(endpoint: ScriptedEndpoint, **facts: Any) -> LanguageModel:
    return await in_database(make_model, "scripted", base_url=endpoint.base_url, **facts)


def articles(html: str) -> list[dict[str, str]]:
    """Id, role and status of each message in a page or fragment."""
    found = re.findall(r"<article[^>]*>", html)
    return [dict(re.findall(r'data-(message|role|status)="([^"]*)"', tag)) for tag in found]
