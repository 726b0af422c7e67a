"""How Daphne takes requests in: bodies are judged as they come, and what a proxy says of its client is believed of one.

Daphne hands a request to the application once its body is whole, on disk, and then puts all of it into memory: whatever
the application refuses has been paid for by then (300 MB announced, or chunked without a length, took 300 MB).
"""

from __future__ import annotations

import io
import time
from collections import Counter
from ipaddress import ip_address
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.internet.defer import DeferredSemaphore

from chatapp.gates import most_bytes, refusal
from chatapp.hello import NOT_BELIEVED

# A request may stand still for so long; each chunk of its body earns it what LEAST_BYTES_A_SECOND make of it, and no
# more than this is ever ahead: what came fast doesn't pay for hours of silence.
PATIENT_SECONDS = 30
LEAST_BYTES_A_SECOND = 2_000
# What comes after a refusal is read and thrown away for so long, so that the sentence is read before the line is cut.
LINGERING_SECONDS = 10
# Bodies over BODY_LIMIT_BYTES: so many are in memory at once, the others wait on the disk.
LARGE_AT_ONCE = 4
# Of all bodies that are on their way to this process: what lies on the disk, whoever sends it.
MOST_ARRIVING_BYTES = 1024 * 1024 * 1024
SHARE_OF_ONE_ADDRESS = 8  # an eighth of it
# Up to here a body counts for nothing of that: who signs in or sends a message gets through whatever others upload.
SMALL_BYTES = 32 * 1024
FORWARDED = (b"x-forwarded-for", b"x-forwarded-port", b"x-forwarded-proto")


class Request(WebRequest):
    """One request, from its first line on. `server` is Daphne's, which calls `check_timeouts` every two seconds."""

    arriving: Counter[str] = Counter()  # bytes by address, of all requests: kept on the class
    large = DeferredSemaphore(LARGE_AT_ONCE)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.deadline = time.monotonic() + PATIENT_SECONDS
        self.taken_bytes = 0
        self.held_bytes = 0
        self.sender = ""
        self.most_bytes = 0
        self.is_whole = False
        self.refused_at: float | None = None
        self.turn: Any = None
        super().__init__(*args, **kwargs)

    def gotLength(self, length: int | None) -> None:  # noqa: N802 (Twisted's name)
        """The head is there. Twisted knows the address only once the body is whole; its channel has it before."""
        path = self.channel._path.split(b"?", 1)[0].decode("latin-1")  # noqa: SLF001
        self.most_bytes = most_bytes(path)
        self.sender = self.client_behind(getattr(self.channel.getPeer(), "host", ""))
        if length and length > self.most_bytes:
            self.content = io.BytesIO()
            self.refuse(413)
        else:
            super().gotLength(length)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        if self.refused_at is not None:
            return
        now = time.monotonic()
        self.deadline = min(self.deadline + len(data) / LEAST_BYTES_A_SECOND, now + PATIENT_SECONDS)
        self.taken_bytes += len(data)
        if self.taken_bytes > self.most_bytes:
            self.refuse(413)
        elif self.taken_bytes > SMALL_BYTES and not self.has_room():
            self.refuse(503)
        else:
            super().handleContentChunk(data)

    def has_room(self) -> bool:
        """Take all that came so far out of the share of its address and of everybody's."""
        self.arriving[self.sender] += self.taken_bytes - self.held_bytes
        self.held_bytes = self.taken_bytes
        of_one = self.arriving[self.sender] * SHARE_OF_ONE_ADDRESS
        return max(of_one, self.arriving.total()) <= MOST_ARRIVING_BYTES

    def requestReceived(self, *args: Any) -> None:  # noqa: N802 (Twisted's name)
        self.is_whole = True
        if self.refused_at is None:
            super().requestReceived(*args)
        else:
            self.channel.loseConnection()

    def process(self) -> Any:
        self.believe_one_proxy()
        if self.taken_bytes <= settings.BODY_LIMIT_BYTES:
            return super().process()
        self.turn = self.large.acquire()
        return self.turn.addCallbacks(lambda _: WebRequest.process(self), lambda _: None)

    def refuse(self, status: int) -> None:
        """Answer now, whatever is still to come, and keep nothing of what came."""
        self.refused_at = time.monotonic()
        self.let_go()
        if self.content:
            self.content.close()
        self.content = io.BytesIO()
        headers = [(name.lower(), value) for name, values in self.requestHeaders.getAllRawHeaders() for value in values]
        self.channel.transport.write(as_bytes(*refusal({"headers": headers}, status)))

    def check_timeouts(self) -> None:
        now = time.monotonic()
        if self.refused_at is not None:
            if now - self.refused_at > LINGERING_SECONDS:
                self.channel.forceAbortClient()
        elif self.is_whole:
            super().check_timeouts()
        elif now > self.deadline:
            self.refuse(408)

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 (Twisted's name)
        self.let_go()
        super().connectionLost(reason)

    def finish(self) -> None:
        self.let_go()
        super().finish()

    def let_go(self) -> None:
        """What it held of the process's shares, once."""
        self.arriving[self.sender] -= self.held_bytes
        if not self.arriving[self.sender]:
            del self.arriving[self.sender]
        self.held_bytes = self.taken_bytes = 0
        turn, self.turn = self.turn, None
        if turn is not None and turn.called:
            self.large.release()
        elif turn is not None:
            turn.cancel()

    def believe_one_proxy(self) -> None:
        """Of X-Forwarded-For the last address, which our proxy added; nothing where none of ours is speaking.

        Daphne would take the first one, which a client may send itself wherever the proxy adds to what is there.
        """
        peer = getattr(self.client, "host", "")
        client, said = self.client_behind(peer), self.client_as_said()
        self.requestHeaders.removeHeader(NOT_BELIEVED)
        if is_proxy(peer):
            self.requestHeaders.setRawHeaders(FORWARDED[0], [client.encode()])
            return
        for name in FORWARDED:
            self.requestHeaders.removeHeader(name)
        if said:
            self.requestHeaders.setRawHeaders(NOT_BELIEVED, [said.encode()])

    def client_behind(self, peer: str) -> str:
        """The address that a proxy of ours says it is speaking for; the peer's own where none is."""
        return (self.client_as_said() if is_proxy(peer) else "") or peer

    def client_as_said(self) -> str:
        """The last address in X-Forwarded-For, whoever wrote it; empty where there is none."""
        said = b",".join(self.requestHeaders.getRawHeaders(FORWARDED[0]) or [])
        return address_in(said.rpartition(b",")[2].strip().decode("latin-1"))


class Factory(HTTPFactory):
    """Daphne's own, but for the requests."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 (Twisted's name)
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = Request
        return protocol


def is_proxy(peer: str) -> bool:
    """Whether it is a proxy that the operator trusts; without a PUBLIC_URL there is none, and all are clients."""
    address = address_in(peer)
    if not (settings.PUBLIC_URL and address):
        return False
    return any(ip_address(address) in network for network in settings.TRUSTED_PROXIES)


def address_in(text: str) -> str:
    """An address in its one spelling, IPv4 as IPv4; empty where it is none."""
    try:
        address = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)


def as_bytes(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    """An HTTP/1.1 answer after which the connection is closed."""
    lines = [b"HTTP/1.1 %d Refused" % status, b"Connection: close", *(b": ".join(header) for header in headers)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
