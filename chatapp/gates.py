"""What is turned away before anyone looks at who is asking: bodies that are too large, what other sites ask for.

And sockets for which there is no database or layer at the moment.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from chatapp.files.limits import MOST_BYTES
from chatapp.languages import language_of

log = logging.getLogger("foldline.gates")

# Addresses with a limit of their own, where what comes is a file: a little more than the file, so that the page's own
# sentence is what a person reads.
FILES = {
    "/import/": settings.IMPORT_FORM_LIMIT_BYTES + settings.BODY_LIMIT_BYTES,
    r"/files/|/draft/|/chats/([0-9a-f-]{36}/(send|draft)/)?": MOST_BYTES + settings.BODY_LIMIT_BYTES,
}

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class BodyTooLarge(Exception):
    """The request was answered with 413; nothing more is read."""


def most_bytes(path: str, *, elsewhere: Mapping[str, int] = FILES) -> int:
    """That a body may have; `elsewhere`: where it may have more, by patterns of addresses."""
    own = (most for address, most in elsewhere.items() if re.fullmatch(address, path))
    return next(own, settings.BODY_LIMIT_BYTES)


def limit_body(application: Application, *, most: Callable[[str], int] = most_bytes) -> Application:
    """Answer 413 as soon as a body is known to be larger than `most` allows for its address.

    Under `manage.py serve` none gets here (intake.py); this is for any other server.
    """

    async def limited(scope: dict[str, Any], receive: Any, send: Any) -> None:
        most_here = most(scope["path"])
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > most_here:
            await _refuse(scope, send, 413)
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
                await _refuse(scope, send, 413)

    return limited


async def _refuse(scope: dict[str, Any], send: Any, status: int) -> None:
    _, headers, body = refusal(scope, status)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refusal(scope: dict[str, Any], status: int) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body of an answer to whoever it is: another site's (403), too large (413), slow (408)
    or much at once (503).
    """
    with translation.override(language_of(scope)):
        body = f"{_words(status)}\n".encode()
    return status, [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))], body


def _words(status: int) -> str:
    if status == HTTPStatus.FORBIDDEN:
        return gettext("Another site asked for this. Nothing was done; open Foldline itself.")
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return gettext("That came too slowly. What you sent is still in your browser: go back and try again.")
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return gettext("Too much is being sent now. What you sent is still in your browser: go back and try again.")
    return gettext(
        "That is too large to be taken. What you sent is still in your browser: go back and make it smaller."
    )


def own_site(application: Application) -> Application:
    """Refuse what another site has a browser ask for, unless a person follows a link here.

    The browser itself says so (Fetch Metadata, on HTTPS and loopback). A token guards the posts already; this guards
    the reads, too: another site could otherwise time a search of somebody who is signed in, or load a file of theirs.
    """

    async def guarded(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        is_link = (
            scope["method"] in ("GET", "HEAD")
            and headers.get(b"sec-fetch-mode") == b"navigate"
            and headers.get(b"sec-fetch-dest") == b"document"
        )
        if headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site") and not is_link:
            await _refuse(scope, send, HTTPStatus.FORBIDDEN)
            return
        await application(scope, receive, send)

    return guarded


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
