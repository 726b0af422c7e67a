"""What stands before several web processes: deploy/nginx.conf, and our own proxy where there is no nginx."""

from __future__ import annotations

import http.client
import http.server
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from tests import proxy
from tests.live import free_port

Made = Callable[[int, Sequence[int], Path], AbstractContextManager[object]]
PROXIES = [
    pytest.param(proxy.nginx, id="nginx", marks=pytest.mark.skipif(not proxy.NGINX, reason="no nginx is installed")),
    pytest.param(lambda port, upstreams, _folder: proxy.OwnProxy(port, upstreams), id="own"),
]


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with its port and the head of the request; after an upgrade it says everything twice."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers["Upgrade"]:
            self.send_response(101)
            self.end_headers()
            while data := self.connection.recv(100):
                self.connection.sendall(data * 2)
            return
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        body = f"{self.server.server_address[1]}\n{self.headers}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 (http.server's name)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def upstream() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def upstreams() -> Iterator[list[int]]:
    with upstream() as one, upstream() as two:
        yield [one, two]


@pytest.fixture(params=PROXIES)
def make(request: pytest.FixtureRequest) -> Made:
    made: Made = request.param
    return made


@pytest.fixture
def port(make: Made, upstreams: list[int], tmp_path: Path) -> Iterator[int]:
    port = free_port()
    with make(port, upstreams, tmp_path / "proxy"):
        yield port


def ask(port: int, method: str = "GET", path: str = "/", body: bytes = b"", **headers: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_each_request_reaches_the_next_process(port: int, upstreams: list[int]) -> None:
    reached = [int(ask(port)[1].split()[0]) for _ in range(4)]

    assert reached[:2] == reached[2:]
    assert sorted(reached[:2]) == sorted(upstreams)


def test_who_asks_is_said_by_the_proxy_whatever_a_client_sends(port: int) -> None:
    _, told = ask(port, **{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"})

    lines = [line for line in told.splitlines() if line.lower().startswith(("host:", "x-forwarded-"))]
    assert f"Host: 127.0.0.1:{port}" in lines
    assert "X-Forwarded-For: 127.0.0.1" in lines
    assert "X-Forwarded-Proto: http" in lines
    assert "203.0.113.9" not in told


def test_socket_is_passed_on_in_both_directions(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(b"GET /ws/chats/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        stream = connection.makefile("rb")
        assert b" 101 " in stream.readline()
        while stream.readline().strip():
            pass
        for words in (b"hello", b"again"):
            connection.sendall(words)
            assert stream.read(10) == words * 2


def test_process_that_is_gone_costs_no_page(make: Made, upstreams: list[int], tmp_path: Path) -> None:
    """A request that never got anywhere is asked of the next process."""
    port = free_port()
    with make(port, [free_port(), upstreams[0]], tmp_path / "proxy"):
        assert [int(ask(port)[1].split()[0]) for _ in range(3)] == [upstreams[0]] * 3


@pytest.mark.parametrize(("path", "megabytes"), [("/files/", 24), ("/chats/", 24), ("/import/", 54)])
def test_what_foldline_takes_the_proxy_lets_through(port: int, path: str, megabytes: int) -> None:
    assert ask(port, "POST", path, bytes(megabytes * 1_000_000))[0] == 200
