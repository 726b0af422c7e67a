"""Server-sent events out of raw bytes, whatever their chunk borders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A token's line is some 300 bytes; a whole reply in one line stays far below this.
LONGEST_LINE_BYTES = 4_000_000

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# A CR at the very end may be half of a CRLF.
LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class LineTooLong(Exception):
    """Raised as soon as it is too long, before its end has come."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`name` is "" for the usual ones."""

    name: str
    data: bytes


class EventLines:
    """Bytes in, events out. Splits on LF and CR only: U+2028 is a line end to str.splitlines, but not in an event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_first_line = True
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        if b"\n" not in chunk and b"\r" not in chunk and not self._rest.endswith(b"\r"):
            self._rest += chunk
            self._check(self._rest)
            return
        block = bytes(self._rest + chunk)
        *lines, rest = LINE_END.split(block) if b"\r" in block else block.split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            self._check(line)
            yield from self._read(line)
        self._check(rest)

    def finish(self) -> Iterator[ServerEvent]:
        """The last event, where its empty line never came."""
        rest, self._rest = bytes(self._rest), bytearray()
        if rest.strip():
            yield from self._read(rest.rstrip(b"\r"))
        yield from self._dispatch()

    def _read(self, line: bytes) -> Iterator[ServerEvent]:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(BYTE_ORDER_MARK)
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
        name, data = self._name, b"\n".join(self._data)
        self._name, self._data = "", []
        if data or name == "error":
            yield ServerEvent(name, data)

    @staticmethod
    def _check(line: bytes | bytearray) -> None:
        if len(line) > LONGEST_LINE_BYTES:
            raise LineTooLong
