"""What strangers send to the real server: it answers, its memory stays flat, and a person's pages go on coming."""

from __future__ import annotations

import shutil
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.live import LiveServer
from tests.over_http import ADMINISTRATOR, Caller

MEGABYTE = b"x" * 2**20
HUNDREDS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[LiveServer]:
    data = shutil.copytree(prepared, tmp_path_factory.mktemp("attacked") / "data")
    running = LiveServer(data, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", **ADMINISTRATOR}).start()
    yield running
    running.stop()


def most_memory(server: LiveServer) -> int:
    """Bytes that the process ever had at once."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def post(server: LiveServer, header: str, parts: Iterable[bytes], path: str = "/accounts/login/") -> str:
    """The first line of the answer, once all has been sent or the server has hung up."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{header}\r\n\r\n"
        connection.sendall(head.encode())
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass
        return connection.recv(4096).decode().splitlines()[0]


@pytest.mark.parametrize(("path", "is_announced"), [("/accounts/login/", True), ("/import/", False)])
def test_300_mb_from_nobody_are_refused_with_memory_flat(server: LiveServer, path: str, *, is_announced: bool) -> None:
    before = most_memory(server)
    header = f"Content-Length: {HUNDREDS * len(MEGABYTE)}" if is_announced else "Transfer-Encoding: chunked"
    part = MEGABYTE if is_announced else b"100000\r\n" + MEGABYTE + b"\r\n"

    answer = post(server, header, (part for _ in range(HUNDREDS)), path)

    assert " 413 " in answer
    assert most_memory(server) - before < 20 * 2**20
    assert Caller(server.url).get("/")


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("Content-Length: 5", b"hello" + MEGABYTE),  # longer than it says: what follows is no request
        ("Content-Length: -1", b""),
        ("Content-Length: 5\r\nContent-Length: 50", b"hello"),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"nonsense\r\n\r\n"),
    ],
)
def test_lie_about_the_length_ends_in_an_answer_and_nothing_else(server: LiveServer, header: str, body: bytes) -> None:
    answer = post(server, header, [body])

    assert int(answer.split()[1]) in {400, 403, 413}
    assert Caller(server.url).get("/")


def frame(first: int, length: int, data: bytes) -> bytes:
    """A masked frame (with the mask 0) that says it has `length` bytes and holds these."""
    return bytes([first, 0xFF]) + struct.pack(">Q", length) + bytes(4) + data


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([frame(0x81, 64 * 1024 + 1, b"x" * 100)], id="one larger than 64 kB"),
        pytest.param([frame(0x81, 2**40, b"")], id="one that says a terabyte"),
        pytest.param([frame(0x01, 30_000, b"x" * 30_000)] + [frame(0x00, 30_000, b"x" * 30_000)] * 2, id="in pieces"),
    ],
)
def test_frame_that_is_too_large_ends_the_socket_with_memory_flat(server: LiveServer, frames: list[bytes]) -> None:
    ada = Caller(server.url)
    before = most_memory(server)

    with ada.socket("/chats/") as page:
        with suppress(ConnectionError):  # it may be cut before all is sent
            for each in frames:
                page.connection.sendall(each)
        with pytest.raises((ConnectionError, ValueError)):  # reset, or at its end
            page.until("what never comes")

    assert most_memory(server) - before < 20 * 2**20
    with ada.socket("/chats/"):
        pass
