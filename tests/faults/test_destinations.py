"""Which hosts are called: judged by where a name leads, in every spelling, and connected to as judged."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import pytest

from chatapp.destinations import EVERY_PRIVATE, Destinations, Forbidden, look_up
from chatapp.environment import Environment
from chatapp.llm import Target, calling, close_clients, network, probe, stream_chat
from chatapp.llm.network import CheckedBackend, DirectTransport, ProxiedTransport, transport_to
from tests.certificates import server_context, trusting
from tests.faults.calls import AT_ONCE, HELLO, KEY, call, outcome_of, target_of
from tests.scripted import ScriptedEndpoint, done, finish, head, pause, redirect, reply, text

USUAL = Destinations(EVERY_PRIVATE)

METADATA = [
    "169.254.169.254",
    "2852039166",
    "0xA9FEA9FE",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "::ffff:0:169.254.169.254",
    "2002:a9fe:a9fe::1",
    "fec0::1",
    "5f00::1",
    "3fff::1",
    "192.0.0.8",
    "fe80::1%lo",
    "fd00:ec2::254",
    "fd20:ce::254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "224.0.0.1",
    "255.255.255.255",
]


def addresses_of(host: str) -> list[str]:
    return look_up(host, 80).result(10)


@pytest.mark.parametrize("host", METADATA)
def test_metadata_address_is_never_called_however_it_is_spelled(host: str) -> None:
    with pytest.raises(Forbidden) as forbidden:
        Destinations((*EVERY_PRIVATE, host, "0.0.0.0/0", "::/0")).checked(host, addresses_of(host))
    assert forbidden.value.code == "never_called"


@pytest.mark.parametrize("host", ["metadata.google.internal", "metadata.google.internal.", "rebind.example"])
def test_name_that_leads_to_a_metadata_address_is_never_called(host: str) -> None:
    with pytest.raises(Forbidden) as forbidden:
        Destinations((*EVERY_PRIVATE, host)).checked(host, ["93.184.215.14", "169.254.169.254"])
    assert forbidden.value.code == "never_called"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.9.10", "::1", "0.0.0.0", "::", "10.0.0.5", "172.17.0.1", "192.168.1.20", "fd12::5"),
        *("100.101.102.103", "::ffff:10.0.0.5", "93.184.215.14", "2606:2800:21f::1", "64:ff9b::5db8:d70e"),
    ],
)
def test_what_people_have_at_home_is_called_unless_a_list_says_otherwise(address: str) -> None:
    """Ollama on this machine, llama.cpp in the next room, host.docker.internal, Tailscale; and the open network."""
    assert USUAL.checked("host", [address]) == [address]


@pytest.mark.parametrize("address", ["192.0.2.1", "198.18.0.1", "2001:db8::1", "0.1.2.3", "2001:0:a9fe:a9fe::1"])
def test_address_that_is_neither_public_nor_anybodys_network_is_not_called(address: str) -> None:
    with pytest.raises(Forbidden):
        USUAL.checked("host", [address])


@pytest.mark.parametrize(
    ("host", "address", "is_allowed"),
    [
        ("llm.lan", "10.9.9.9", True),
        ("LLM.lan.", "10.9.9.9", True),
        ("other.lan", "10.9.9.9", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("anything", "10.1.2.3", True),
        ("anything", "10.1.2.4", False),
        ("anything", "::ffff:10.1.2.3", True),
        ("anything", "192.168.7.8", True),
        ("localhost", "127.0.0.1", False),
        ("box", "10.9.9.9", True),
        ("api.openai.com", "104.18.7.192", True),
    ],
)
def test_list_of_private_hosts_allows_those_and_no_others(host: str, address: str, *, is_allowed: bool) -> None:
    environment = Environment({"PRIVATE_ENDPOINTS": "llm.lan, 10.1.2.3, 192.168.7.0/24"})
    destinations = environment.destinations("PRIVATE_ENDPOINTS", base_url="http://box:8080/v1")
    if is_allowed:
        assert destinations.checked(host, [address])
        return
    with pytest.raises(Forbidden) as forbidden:
        destinations.checked(host, [address])
    assert (forbidden.value.code, forbidden.value.address) == ("private_address", address)


@pytest.mark.parametrize("word", ["http://10.0.0.5:8080/v1", "10.0.0.0/99", "a b", "-"])
def test_word_that_is_no_destination_is_complained_of(word: str) -> None:
    environment = Environment({"PRIVATE_ENDPOINTS": word})
    environment.destinations("PRIVATE_ENDPOINTS", base_url="")
    (complaint,) = environment.complaints
    assert (complaint.name, word in complaint.problem) == ("PRIVATE_ENDPOINTS", True)


# --- at the call ---


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "0xA9FEA9FE", "[::ffff:169.254.169.254]", "169.254.169.254.nip.invalid"]
)
async def test_call_to_a_metadata_address_opens_no_connection(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    async def connect(self: object, host: str, *_: object, **__: object) -> None:
        opened.append(host)
        raise httpcore2.ConnectError("nobody there")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    target = Target(f"http://{host}/v1", KEY, "m", destinations=USUAL)
    outcome = await outcome_of(stream_chat(target, HELLO, patience=AT_ONCE))
    assert opened == []
    assert outcome.code == ("unreachable" if "nip" in host else "never_called")
    assert (await probe(target)).code == outcome.code


async def test_call_to_a_private_host_that_nobody_named_is_refused_at_once(endpoint: ScriptedEndpoint) -> None:
    elsewhere = replace(target_of(endpoint), destinations=Destinations(("10.0.0.0/8",)))
    outcome = await outcome_of(stream_chat(elsewhere, HELLO, patience=AT_ONCE))
    assert (outcome.code, outcome.detail, outcome.waits) == ("private_address", "127.0.0.1", [])
    assert endpoint.requests == []


async def test_name_that_leads_elsewhere_a_moment_later_is_asked_for_once(endpoint: ScriptedEndpoint) -> None:
    """DNS rebinding: the answer that was judged is the one that is connected to, under the name."""
    asked: list[str] = []

    def rebinding(host: str, port: int) -> Future[list[str]]:
        asked.append(host)
        answer: Future[list[str]] = Future()
        answer.set_result(["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"])
        return answer

    stream = await CheckedBackend(Destinations(), rebinding).connect_tcp("rebind.example", endpoint.port)
    assert stream.get_extra_info("server_addr") == ("127.0.0.1", endpoint.port)
    await stream.aclose()
    assert asked == ["rebind.example"]
    with pytest.raises(Forbidden):
        await CheckedBackend(Destinations(), rebinding).connect_tcp("rebind.example", endpoint.port)


def both_addresses(host: str, port: int) -> Future[list[str]]:
    answer: Future[list[str]] = Future()
    answer.set_result(["::1", "127.0.0.1"])
    return answer


async def test_address_that_does_not_answer_gives_way_to_the_next(endpoint: ScriptedEndpoint) -> None:
    """“localhost” is two addresses, and many a server listens at one of them."""

    stream = await CheckedBackend(Destinations(), both_addresses).connect_tcp("localhost", endpoint.port)
    assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
    await stream.aclose()


class Opened:
    """What a connection that was opened is to the backend: something to close."""

    is_closed = False
    read = write = get_extra_info = start_tls = None

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("steps", range(16))
async def test_connection_that_is_given_up_while_it_opens_is_closed(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever step of the loop it is given up, the one moment included in which it is open and nobody's yet."""
    opened: list[Opened] = []

    async def connect(*_: object, **__: object) -> Opened:
        await asyncio.sleep(0)
        opened.append(Opened())
        return opened[-1]

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    opening = asyncio.create_task(CheckedBackend(Destinations(), both_addresses).connect_tcp("localhost", 80))
    for _ in range(steps):
        await asyncio.sleep(0)
    opening.cancel()
    (outcome,) = await asyncio.gather(opening, return_exceptions=True)

    assert [each.is_closed for each in opened] == [isinstance(outcome, asyncio.CancelledError)] * len(opened)


async def test_of_two_that_open_at_the_same_moment_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "HEAD_START_SECONDS", 0)
    opened: list[Opened] = []
    both_began = asyncio.Barrier(2)

    async def connect(*_: object, **__: object) -> Opened:
        await both_began.wait()
        opened.append(Opened())
        return opened[-1]

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    await CheckedBackend(Destinations(), both_addresses).connect_tcp("localhost", 80)

    assert [each.is_closed for each in opened].count(False) == 1


async def test_connection_is_read_at_leisure_for_as_long_as_the_reply_that_asked_for_it(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be kept for the next one, and would hold on to all of a reply that is over."""
    monkeypatch.setattr(calling, "HURRIED_SECONDS", -1)
    connect, opened, asked = CheckedBackend.connect_tcp, list[network.CheckedStream](), list[object]()

    async def noted(*arguments: Any, **options: Any) -> Any:
        opened.append(await connect(*arguments, **options))
        return opened[-1]

    def at_once() -> float:
        asked.append(opened[0].unread_seconds)
        return 0

    monkeypatch.setattr(CheckedBackend, "connect_tcp", noted)
    endpoint.will([head(), text("One"), pause(0.05), text("Two"), finish(), done()])
    outcome = await outcome_of(stream_chat(target_of(endpoint), HELLO, patience=AT_ONCE, unread_seconds=at_once))

    assert outcome.text == "OneTwo"
    assert asked
    assert asked[0] is not None
    assert [stream.unread_seconds for stream in opened] == [None]


async def test_request_keeps_the_name_that_was_asked_for(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(reply("Hi"))
    target = replace(target_of(endpoint), base_url=f"http://localhost:{endpoint.port}/v1")
    assert (await outcome_of(stream_chat(target, HELLO, patience=AT_ONCE))).text == "Hi"
    assert endpoint.requests[0].headers["host"] == f"localhost:{endpoint.port}"


async def test_certificate_is_judged_by_the_name_and_not_by_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedEndpoint(tls=server_context(tmp_path)) as endpoint:
        monkeypatch.setattr(network, "tls", lambda: trusting(tmp_path / "localhost.pem"))
        for host, code in (("localhost", ""), ("127.0.0.1", "unreachable")):
            target = Target(f"https://{host}:{endpoint.port}/v1", KEY, "m")
            assert (await outcome_of(stream_chat(target, HELLO, patience=AT_ONCE))).code == code
        await close_clients()


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "//10.0.0.1/",
        "/v1/elsewhere",
        "gopher://x",
        "",
    ],
)
async def test_redirect_is_followed_nowhere(endpoint: ScriptedEndpoint, location: str) -> None:
    endpoint.always(redirect(location))
    outcome = await call(endpoint)
    assert (outcome.code, len(endpoint.requests), endpoint.other_requests.total()) == ("bad_request", 1, 0)
    assert "redirects are not followed" in outcome.detail


async def test_name_server_that_is_silent_holds_no_thread_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Database calls and frames share asyncio's own pool; a dead name server may not fill it."""
    may_answer = asyncio.Event()
    loop = asyncio.get_running_loop()

    def silent(*_: object, **__: object) -> list[object]:
        asyncio.run_coroutine_threadsafe(may_answer.wait(), loop).result(30)
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    target = Target("http://silent.example/v1", KEY, "m")
    calls = [asyncio.ensure_future(outcome_of(stream_chat(target, HELLO, patience=AT_ONCE))) for _ in range(60)]
    await asyncio.sleep(0)
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 5) == "free"
    for waiting in calls:
        waiting.cancel()
    await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5)
    may_answer.set()


def test_proxy_of_the_environment_is_used_but_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    kinds = [
        type(transport_to(urlsplit(f"http://{host}/v1"), USUAL))
        for host in ("outside.example", "inside.example", "localhost", "127.0.0.1")
    ]
    assert kinds == [ProxiedTransport, DirectTransport, DirectTransport, DirectTransport]


async def test_proxy_is_not_asked_for_a_metadata_address(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", endpoint.address)
    target = Target("http://0xA9FEA9FE/v1", KEY, "m", destinations=USUAL)
    assert (await outcome_of(stream_chat(target, HELLO, patience=AT_ONCE))).code == "never_called"
    assert endpoint.other_requests.total() == len(endpoint.requests) == 0
    unknown_here = replace(target, base_url="http://no-such-name.invalid/v1")
    assert (await outcome_of(stream_chat(unknown_here, HELLO, patience=AT_ONCE))).text == "OK"


def test_no_code_but_the_client_opens_connections() -> None:
    """All calls go through `chatapp.llm.clients`; beside it only the doctor opens a socket, to PUBLIC_URL."""
    root = Path(__file__).resolve().parents[2] / "chatapp"
    opening = ("httpx2.AsyncClient(", "httpx2.Client(", "AsyncOpenAI(", "urlopen(", "create_connection(")
    found = {path.name for path in root.rglob("*.py") for word in opening if word in path.read_text()}
    assert found == {"clients.py", "hello.py"}
