"""Sockets of many pages in one process (RFC 6455): each reads, acknowledges once a second, and notes delays."""

from __future__ import annotations

import asyncio
import json
import struct
from dataclasses import dataclass, field

from bench.endpoint import now, stamps
from bench.sockets import CLOSE, PING, PONG, TEXT
from tests.sockets import handshake, masked


@dataclass
class Heard:
    """What all of them heard together: seconds from a token to its page, texts in all, and what went wrong."""

    delays: list[float] = field(default_factory=list)
    frames: int = 0
    errors: list[str] = field(default_factory=list)


class Listener:
    def __init__(self, heard: Heard) -> None:
        self.heard, self.frames, self.said, self.newest, self.is_over = heard, 0, now(), 0.0, False

    async def open(self, port: int, path: str, cookie: str) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(handshake(port, path, cookie))
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.partition(b"\r\n")[0]:
            raise ConnectionError(head.partition(b"\r\n")[0].decode())

    async def listen(self) -> None:
        """Until it is closed; that is an error unless the soak itself is over."""
        try:
            while True:
                await self._take_next()
        except (OSError, EOFError) as error:
            if not self.is_over:
                self.heard.errors.append(f"socket: {error}")

    async def _take_next(self) -> None:
        first, length = await self.reader.readexactly(2)
        if length >= 126:
            size, wide = (2, ">H") if length == 126 else (8, ">Q")
            (length,) = struct.unpack(wide, await self.reader.readexactly(size))
        data = await self.reader.readexactly(length)
        kind = first & 0x0F
        if kind == PING:
            self.writer.write(masked(PONG, data))
        elif kind == CLOSE:
            raise ConnectionError(f"closed: {data!r}")
        elif b"data-frame" in data:
            self._note(data)

    def _note(self, data: bytes) -> None:
        at = now()
        self.frames += 1
        self.heard.frames += 1
        fresh = [stamp for stamp in stamps(data) if stamp > self.newest]
        self.heard.delays += [at - stamp for stamp in fresh]
        self.newest = max([self.newest, *fresh])
        if at - self.said >= 1:
            self.said = at
            self.writer.write(masked(TEXT, json.dumps({"seen": 0, "frames": self.frames}).encode()))

    def close(self) -> None:
        self.is_over = True
        self.writer.close()
