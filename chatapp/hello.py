"""The doctor's own socket: the server greets whoever shows a fresh seal, and says how it sees them.

So a doctor at the terminal learns whether a socket comes through the proxy, and as whom.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from django.core.signing import BadSignature, TimestampSigner

PATH, HEADER = "/ws/hello/", "x-foldline-doctor"
# What intake.py makes of an X-Forwarded-For that came from none of the trusted proxies.
NOT_BELIEVED = b"x-foldline-not-believed"
SEAL_SECONDS = 60
PATIENCE_SECONDS = 10
# Reserved for documents (RFC 5737), so nobody has it: whoever is seen with it has said so themselves.
FORGED_ADDRESS = "203.0.113.7"

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Greeting:
    """The status of the handshake, 101 when the socket opened; `client`: the address that the server sees.

    `not_believed`: what X-Forwarded-For said, where it came from none of the trusted proxies.
    """

    status: int
    client: str = ""
    not_believed: str = ""


def greeting(application: Application) -> Application:
    """Answers the doctor's socket, and leaves every other one to `application`."""

    async def greet(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        if scope["path"] != PATH or not _is_fresh(headers.get(HEADER.encode(), b"")):
            await application(scope, receive, send)
            return
        not_believed = headers.get(NOT_BELIEVED, b"").decode("latin-1")
        seen = {"client": (scope.get("client") or [""])[0], "not_believed": not_believed}
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": json.dumps(seen)})
        await send({"type": "websocket.close"})

    return greet


def say_hello(url: str, *, origin: str) -> Greeting:
    """Opens the socket at scheme and host of `url`. Raises OSError (ssl.SSLError is one)."""
    parts = urlsplit(url)
    is_https = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if is_https else 80)
    with socket.create_connection((host, port), PATIENCE_SECONDS) as plain:
        connection = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if is_https else plain
        with connection, connection.makefile("rb") as stream:
            connection.sendall(_request(parts.netloc, origin))
            return _greeting_in(stream)


def _request(host: str, origin: str) -> bytes:
    lines = [
        f"GET {PATH} HTTP/1.1",
        f"Host: {host}",
        f"Origin: {origin}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        f"{HEADER}: {_signer().sign('hello')}",
        f"X-Forwarded-For: {FORGED_ADDRESS}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _greeting_in(stream: BinaryIO) -> Greeting:
    words = stream.readline(200).split()
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    if status != 101:
        return Greeting(status)
    while stream.readline(10_000).strip():
        pass
    _, length = stream.read(2)  # a text of less than 126 bytes
    return Greeting(status, **json.loads(stream.read(length)))


def _signer() -> TimestampSigner:
    return TimestampSigner(salt="foldline doctor")


def _is_fresh(seal: bytes) -> bool:
    try:
        return _signer().unsign(seal.decode("latin-1"), max_age=SEAL_SECONDS) == "hello"
    except BadSignature:
        return False
