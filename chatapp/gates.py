"""What is turned away before anyone looks at who is asking: bodies that are too large, sockets from other origins.

And sockets for which there is no database or layer at the moment.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.utils import translation
from django.utils.translation import gettext

from chatapp.languages import language_of

log = logging.getLogger("foldline.gates")

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class BodyTooLarge(Exception):
    """The request was answered with 413; nothing more is read."""


def limit_body(application: Application, *, most_bytes: int, elsewhere: Mapping[str, int]) -> Application:
    """Answer 413 as soon as a body is known to be larger: a 300 MB POST to any view cost 373 MB without it.

    `elsewhere`: addresses (as patterns) with a limit of their own, where what comes is a file and goes to the disk.
    """

    async def limited(scope: dict[str, Any], receive: Any, send: Any) -> None:
        own = (most for address, most in elsewhere.items() if re.fullmatch(address, scope["path"]))
        most_here = next(own, most_bytes)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > most_here:
            await _refuse(scope, send)
            return
        received = 0
        has_begun = False

        async def counted_receive() -> Any:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most_here:
                raise BodyTooLarge
            return message

        async def watched_send(message: Any) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await application(scope, counted_receive, watched_send)
        except BodyTooLarge:
            if not has_begun:
                await _refuse(scope, send)

    return limited


async def _refuse(scope: dict[str, Any], send: Any) -> None:
    with translation.override(language_of(scope)):
        words = gettext(
            "That is too large to be taken. What you sent is still in your browser: go back and make it smaller."
        )
    body = f"{words}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def same_origin(application: Application, *, public_url: str) -> Application:
    """Refuse a socket from another origin; scheme, host and port all count, which allowed hosts alone would miss."""

    async def guarded(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        own = urlsplit(public_url).netloc or headers.get(b"host", b"").decode("latin-1")
        scheme = urlsplit(public_url).scheme or "http"
        if origin != f"{scheme}://{own}":
            await send({"type": "websocket.close", "code": 4403})
            return
        await application(scope, receive, send)

    return guarded


def come_back_later(application: Application, *, away: tuple[type[Exception], ...], code: int) -> Application:
    """Close a socket with `code` where `away` ends it; its page comes back, and nobody needs a traceback."""

    async def guarded(scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            await application(scope, receive, send)
        except away as error:
            log.warning("A socket was closed: %s", type(error).__name__)
            await send({"type": "websocket.close", "code": code})

    return guarded
