"""A WebSocket over a real connection, as small as a test needs: it opens, reads texts, and says what it has seen."""

from __future__ import annotations

import base64
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


def handshake(port: int, path: str, cookie: str) -> bytes:
    """What a browser on a page of this server asks for a socket with."""
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Origin: http://127.0.0.1:{port}",
        f"Cookie: {cookie}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def masked(kind: int, data: bytes) -> bytes:
    """A short frame as browsers send it (RFC 6455); `kind` is its opcode."""
    if len(data) > 125:
        raise ValueError("Only short texts go out.")
    mask = os.urandom(4)
    return bytes([0x80 | kind, 0x80 | len(data)]) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))


@contextmanager
def opened(port: int, path: str, *, cookie: str, seconds: float = 20) -> Iterator[RawSocket]:
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        connection.sendall(handshake(port, path, cookie))
        with connection.makefile("rb") as stream:
            status = stream.readline()
            assert b" 101 " in status, status
            while stream.readline().strip():
                pass
            yield RawSocket(connection, stream)


class RawSocket:
    def __init__(self, connection: socket.socket, stream: BinaryIO) -> None:
        self.connection = connection
        self.stream = stream

    def next(self) -> str:
        """The next text; pings are answered on the way."""
        while True:
            first, second = self.stream.read(2)
            length = second & 127
            if length == 126:
                (length,) = struct.unpack(">H", self.stream.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.stream.read(8))
            data = self.stream.read(length)
            if first & 15 == 9:
                self.connection.sendall(masked(10, data))
            elif first & 15 == 8:
                raise ConnectionError(f"closed with {struct.unpack('>H', data[:2])[0]}")
            else:
                return data.decode()

    def until(self, words: str) -> str:
        while words not in (text := self.next()):
            pass
        return text
