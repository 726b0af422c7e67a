"""Requests as Daphne takes them in: judged while they come, by a clock of the test's own and a line made of bytes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from twisted.internet.address import IPv4Address
from twisted.internet.testing import StringTransport

# First: Daphne installs Twisted's asyncio reactor.
from chatapp.management.commands.serve import FoldlineServer  # isort: skip

from chatapp import hello, intake
from chatapp.environment import Environment

LIMIT = 1_000


class Line:
    """One connection to the server; `scopes` are the requests that reached the application, with their bodies."""

    def __init__(self, server: FoldlineServer, scopes: list[Any], peer: str = "127.0.0.1") -> None:
        self.server, self.scopes = server, scopes
        self.transport = StringTransport(peerAddress=IPv4Address("TCP", peer, 50_000))
        self.transport.abortConnection = self.transport.loseConnection
        self.protocol = server.http_factory.buildProtocol(None)
        self.protocol.makeConnection(self.transport)

    def head(self, *lines: str, path: str = "/") -> None:
        self.say("\r\n".join([f"POST {path} HTTP/1.1", "Host: testserver", *lines, "", ""]).encode())

    def say(self, data: bytes) -> None:
        self.protocol.dataReceived(data)

    @property
    def status(self) -> str:
        return self.transport.value().partition(b" ")[2][:3].decode()

    def look_at_the_clock(self) -> None:
        for request in list(self.server.connections):
            request.check_timeouts()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    times = [1000.0]
    monkeypatch.setattr(intake.time, "monotonic", lambda: times[0])
    return times


@pytest.fixture
def scopes() -> list[Any]:
    return []


@pytest.fixture
def server(scopes: list[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[FoldlineServer]:
    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        scopes.append({**scope, "body": body + message["body"]})
        await asyncio.Event().wait()

    monkeypatch.setattr(intake, "most_bytes", lambda path: 4 * LIMIT if path == "/files/" else LIMIT)
    monkeypatch.setattr(intake.Request, "arriving", Counter())
    monkeypatch.setattr(intake, "SMALL_BYTES", 0)
    running = FoldlineServer(
        application, on_listening=None, endpoints=["tcp:0"], proxy_forwarded_address_header="X-Forwarded-For"
    )
    running.connections = {}
    running.http_factory = None
    yield running
    for details in running.connections.values():
        if "application_instance" in details:
            details["application_instance"].cancel()


async def passed(scopes: list[Any], number: int) -> None:
    async with asyncio.timeout(10):
        while len(scopes) < number:
            await asyncio.sleep(0)


async def test_body_within_its_limit_reaches_the_application(server: FoldlineServer, scopes: list[Any]) -> None:
    line = Line(server, scopes)
    line.head("Content-Length: 1000")
    line.say(b"x" * 1000)
    await passed(scopes, 1)

    assert scopes[0]["body"] == b"x" * 1000


async def test_body_announced_as_larger_is_answered_before_a_byte_of_it(
    server: FoldlineServer, scopes: list[Any]
) -> None:
    line = Line(server, scopes)
    line.head("Content-Length: 314572800")

    assert line.status == "413"
    assert b"go back and make it smaller" in line.transport.value()
    assert scopes == []


async def test_chunks_without_a_length_are_counted_and_nothing_is_kept(
    server: FoldlineServer, scopes: list[Any]
) -> None:
    line = Line(server, scopes)
    line.head("Transfer-Encoding: chunked")
    for _ in range(300):
        line.say(b"400\r\n" + b"x" * 0x400 + b"\r\n")
    kept = [request.content.getbuffer().nbytes for request in server.connections]
    line.say(b"0\r\n\r\n")
    await asyncio.sleep(0)

    assert line.status == "413"
    assert (kept, scopes) == ([0], [])
    assert line.transport.disconnecting
    assert line.transport.value().count(b"HTTP/1.1") == 1


async def test_address_where_files_come_in_takes_more(server: FoldlineServer, scopes: list[Any]) -> None:
    taken, refused = Line(server, scopes), Line(server, scopes)
    taken.head("Content-Length: 4000", path="/files/?a=1")
    taken.say(b"x" * 4000)
    refused.head("Content-Length: 4001", path="/files/")
    await passed(scopes, 1)

    assert (taken.status, refused.status) == ("", "413")


@pytest.mark.parametrize("begun", ["head", "body"])
async def test_what_trickles_is_answered_with_408_and_cut_off(
    server: FoldlineServer, scopes: list[Any], clock: list[float], begun: str
) -> None:
    line = Line(server, scopes)
    if begun == "head":
        line.say(b"POST / HTTP/1.1\r\nHost: x\r\n")
    else:
        line.head("Content-Length: 900")
    for _ in range(10):  # a lie about the length is the same: the rest never comes
        clock[0] += 4
        line.say(b"X" if begun == "body" else b"A: b\r\n")
        line.look_at_the_clock()

    assert line.status == "408"
    assert not line.transport.disconnecting
    clock[0] += intake.LINGERING_SECONDS + 1
    line.look_at_the_clock()
    assert line.transport.disconnecting


async def test_large_body_over_a_slow_line_has_its_time(
    server: FoldlineServer, scopes: list[Any], clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "LEAST_BYTES_A_SECOND", 10)
    line = Line(server, scopes)
    line.head("Content-Length: 1000")
    for _ in range(10):
        clock[0] += 9
        line.say(b"x" * 100)
        line.look_at_the_clock()
    await passed(scopes, 1)

    assert len(scopes[0]["body"]) == 1000


async def test_only_so_many_large_bodies_are_in_memory_at_once(
    server: FoldlineServer, scopes: list[Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BODY_LIMIT_BYTES = LIMIT
    monkeypatch.setattr(intake.Request, "large", intake.DeferredSemaphore(2))
    lines = [Line(server, scopes) for _ in range(5)]
    for line in lines:
        line.head("Content-Length: 4000", path="/files/")
        line.say(b"x" * 4000)
    small = Line(server, scopes)
    small.head("Content-Length: 10")
    small.say(b"x" * 10)
    await passed(scopes, 3)
    await asyncio.sleep(0.05)
    assert sorted(len(scope["body"]) for scope in scopes) == [10, 4000, 4000]

    for line in (lines[4], lines[0]):  # one that waits is gone, one that was in is done
        line.protocol.connectionLost(None)
    await passed(scopes, 4)
    await asyncio.sleep(0.05)
    assert len(scopes) == 4
    for line in lines[1:4]:
        line.protocol.connectionLost(None)


async def test_what_all_send_at_once_fills_no_disk(
    server: FoldlineServer, scopes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_ARRIVING_BYTES", 2_500)
    monkeypatch.setattr(intake, "SHARE_OF_ONE_ADDRESS", 1)
    lines = [Line(server, scopes) for _ in range(4)]
    for line in lines:
        line.head("Content-Length: 1000")
        line.say(b"x" * 900)
    assert [line.status for line in lines] == ["", "", "503", "503"]

    for line in lines:
        line.protocol.connectionLost(None)
    assert not intake.Request.arriving


async def test_one_address_has_an_eighth_and_small_bodies_always_get_through(
    server: FoldlineServer, scopes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_ARRIVING_BYTES", 8_000)
    monkeypatch.setattr(intake, "SMALL_BYTES", 300)
    peers = ["203.0.113.1", "203.0.113.1", *(f"203.0.113.{number}" for number in range(2, 11))]
    lines = [Line(server, scopes, peer) for peer in peers]
    for line in lines:
        line.head("Content-Length: 1000")
        line.say(b"x" * 900)
    assert [line.status for line in lines] == ["", "503", *[""] * 7, "503", "503"]

    small = Line(server, scopes, "203.0.113.1")
    small.head("Content-Length: 300")
    small.say(b"x" * 300)
    await passed(scopes, 1)
    for line in (*lines, small):
        line.protocol.connectionLost(None)
    assert not intake.Request.arriving


async def test_what_came_fast_pays_for_no_hours_of_silence(
    server: FoldlineServer, scopes: list[Any], clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "LEAST_BYTES_A_SECOND", 1)
    line = Line(server, scopes)
    line.head("Content-Length: 1000")
    line.say(b"x" * 900)
    clock[0] += intake.PATIENT_SECONDS + 1
    line.look_at_the_clock()

    assert (line.status, scopes) == ("408", [])


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        ("127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1", ["127.0.0.1"], "127.0.0.1"),  # a browser on the proxy's own machine
        ("::ffff:127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.2", ["1.2.3.4, 203.0.113.9"], "203.0.113.9"),  # a proxy that adds
        ("10.0.0.2", ["1.2.3.4", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.2", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.2", ["203.0.113.9, nonsense"], "10.0.0.2"),
        ("10.0.0.2", [], "10.0.0.2"),
    ],
)
async def test_client_is_who_a_trusted_proxy_saw(
    server: FoldlineServer, scopes: list[Any], settings: Any, peer: str, said: list[str], client: str
) -> None:
    settings.PUBLIC_URL = "https://chat.example.org"
    settings.TRUSTED_PROXIES = Environment({}).networks("TRUSTED_PROXIES", "127.0.0.0/8,::1,10.0.0.2")
    headers = await headers_as_passed(server, scopes, peer, said)

    assert scopes[0]["client"][0] == client
    assert headers[b"x-forwarded-for"] == client.encode()
    assert headers[b"x-forwarded-proto"] == b"https"
    assert hello.NOT_BELIEVED not in headers


@pytest.mark.parametrize(
    ("public_url", "peer"),
    [
        ("", "127.0.0.1"),  # no proxy: anybody may say so
        ("https://chat.example.org", "10.0.0.3"),  # a neighbour of the proxy's
        ("https://chat.example.org", "192.168.1.20"),
        ("https://chat.example.org", "fd00::7"),
        ("https://chat.example.org", "93.184.216.34"),  # past the proxy
        ("https://chat.example.org", "::ffff:93.184.216.34"),
    ],
)
async def test_whoever_is_no_trusted_proxy_speaks_for_itself_alone(
    server: FoldlineServer, scopes: list[Any], settings: Any, public_url: str, peer: str
) -> None:
    settings.PUBLIC_URL = public_url
    settings.TRUSTED_PROXIES = Environment({}).networks("TRUSTED_PROXIES", "127.0.0.0/8,::1,10.0.0.2")
    headers = await headers_as_passed(server, scopes, peer, ["1.2.3.4"])

    assert scopes[0]["client"][0] == peer
    assert not headers.keys() & {b"x-forwarded-for", b"x-forwarded-port", b"x-forwarded-proto"}
    assert headers[hello.NOT_BELIEVED] == b"1.2.3.4"


async def headers_as_passed(
    server: FoldlineServer, scopes: list[Any], peer: str, said: list[str]
) -> dict[bytes, bytes]:
    """Of a request from `peer` that claims all that a proxy says, and has a mark of ours with it."""
    line = Line(server, scopes, peer)
    claims = [f"X-Forwarded-For: {each}" for each in said]
    line.head(*claims, "X-Forwarded-Proto: https", "X-Foldline-Not-Believed: 9.9.9.9", "Content-Length: 1")
    line.say(b"x")
    await passed(scopes, 1)
    return dict(scopes[0]["headers"])


def test_a_private_network_is_not_trusted_until_it_is_named() -> None:
    assert [str(network) for network in settings.TRUSTED_PROXIES] == ["127.0.0.0/8", "::1/128"]
