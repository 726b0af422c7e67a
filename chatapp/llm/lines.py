"""Server-sent events out of raw bytes, whatever their chunk borders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A token's line is some 300 bytes; a whole reply in one line stays far below this.
LONGEST_LINE_BYTES = 4_000_000

LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class LineTooLong(Exception):
    pass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`name` is "" for the usual ones."""

    name: str
    data: bytes


class EventLines:
    """Bytes in, events out. Splits on LF and CR only: U+2028 is a line end to str.splitlines, but not in an event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        searched = len(self._rest)
        self._rest += chunk
        if chunk.find(b"\n") < 0 and b"\r" not in self._rest[searched - 1 :]:
            if len(self._rest) > LONGEST_LINE_BYTES:
                raise LineTooLong
            return
        block = bytes(self._rest)
        *lines, rest = LINE_END.split(block) if b"\r" in block else block.split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            if len(line) > LONGEST_LINE_BYTES:
                raise LineTooLong
            yield from self._read(line)
        if len(rest) > LONGEST_LINE_BYTES:
            raise LineTooLong

    def finish(self) -> Iterator[ServerEvent]:
        """The last event, where its empty line never came."""
        rest, self._rest = bytes(self._rest), bytearray()
        if rest.strip():
            yield from self._read(rest.rstrip(b"\r"))
        yield from self._dispatch()

    def _read(self, line: bytes) -> Iterator[ServerEvent]:
        if not line:
            yield from self._dispatch()
        elif line[:5] == b"data:":
            value = line[6:] if line[5:6] == b" " else line[5:]
            # Some servers leave out the empty line between events.
            if self._data and value.lstrip()[:1] in (b"{", b"["):
                yield from self._dispatch()
            self._data.append(value)
        elif line[:1] == b"{":  # an error thrown into the stream without its frame
            yield from self._dispatch()
            yield ServerEvent("", line)
        elif line[:6] == b"event:":
            self._name = line[6:].strip().decode("utf-8", "replace")
        elif line[:6] == b"error:":  # llama.cpp, before 2026
            yield ServerEvent("error", line[6:].strip())

    def _dispatch(self) -> Iterator[ServerEvent]:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if data or name == "error":
            yield ServerEvent(name, data[0] if len(data) == 1 else b"\n".join(data))
