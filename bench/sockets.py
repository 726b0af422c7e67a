"""A page's WebSocket without a browser: texts in, acknowledgements out (RFC 6455; no compression is offered)."""

from __future__ import annotations

import json
import re
import socket
import struct
import time
from types import TracebackType
from typing import Self

from tests.sockets import handshake, masked

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
REVISION = re.compile(rb'data-revision="(\d+)"')


class PageSocket:
    """Acknowledges as a page does, once a second; `bytes_read` counts the texts."""

    def __init__(self, port: int, path: str, cookie: str, *, seen: int = 0) -> None:
        self.seen, self.frames, self.bytes_read, self._said = seen, 0, 0, time.monotonic()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._socket.sendall(handshake(port, f"{path}?seen={seen}", cookie))
        status = self._file.readline()
        if b" 101 " not in status:
            raise ConnectionError(status.decode())
        while self._file.readline().strip():
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._socket.close()

    def next(self) -> bytes:
        """The next text."""
        while True:
            kind, data = self._frame()
            if kind == PING:
                self._socket.sendall(masked(PONG, data))
            elif kind == CLOSE:
                raise ConnectionError(f"closed: {data!r}")
            elif kind == TEXT:
                self._note(data)
                return data

    def _note(self, text: bytes) -> None:
        self.bytes_read += len(text)
        self.frames += b"data-frame" in text
        if revision := REVISION.search(text):
            self.seen = max(self.seen, int(revision[1]))
        if time.monotonic() - self._said >= 1:
            self._said = time.monotonic()
            self._socket.sendall(masked(TEXT, json.dumps({"seen": self.seen, "frames": self.frames}).encode()))

    def _frame(self) -> tuple[int, bytes]:
        first, length = self._file.read(2)
        if not first & 0x80:
            raise ConnectionError("A text in pieces; Daphne sends none.")
        if length >= 126:
            wide = ">H" if length == 126 else ">Q"
            (length,) = struct.unpack(wide, self._file.read(struct.calcsize(wide)))
        return first & 0x0F, self._file.read(length)
