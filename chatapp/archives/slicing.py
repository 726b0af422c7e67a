"""A file of chats cut into the chats' own bytes, however large it is: nothing is parsed, one chat is in memory.

A chat that can't be parsed is then a broken chat and not a broken file, whatever is wrong in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MOST_BYTES = 128 * 1024 * 1024
MOST_HEAD_BYTES = 64 * 1024

_OUTSIDE = re.compile(rb'["\[\]{}]')
_INSIDE = re.compile(rb'["\\]')
_LIST_OF_CHATS = re.compile(rb'"chats"\s*:\s*\Z')
_OPENING, _MARK = b"[{", b"\xef\xbb\xbf"


class BrokenFile(Exception):
    """From here on nothing can be read: not_json, breaks_off, too_large."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Slice:
    """One chat's bytes; none where there were more of them than MOST_BYTES."""

    data: bytes | None


@dataclass(frozen=True, slots=True)
class Head:
    """What an object says before its "chats", as JSON of its own."""

    data: bytes


def cut(chunks: Iterable[bytes], *, most_bytes: int = MOST_BYTES) -> Iterator[Head | Slice]:
    """The items of a list, those of an object's "chats", or else the one object itself. Raises BrokenFile."""
    cutter = _Cutter(most_bytes)
    for chunk in chunks:
        yield from cutter.feed(chunk)
    cutter.end()


@dataclass(slots=True)
class _Cutter:
    most_bytes: int
    # How deep the items lie: 1 in a list, 2 in an object's "chats", 0 for an object that is one chat itself.
    level: int = -1
    depth: int = 0
    is_over: bool = False
    in_string: bool = False
    is_escaped: bool = False
    kept: bytearray = field(default_factory=bytearray)
    has_dropped: bool = False

    def feed(self, chunk: bytes) -> Iterator[Head | Slice]:
        if self.level < 0:
            chunk = self._begin(chunk)
        at = begin = 0
        while (at := self._next_mark(chunk, at)) >= 0:
            mark = chunk[at]
            at += 1
            if self.is_over:
                self._pass_over(mark)
                begin = at
            elif mark in _OPENING:
                if self.level == 0 and self.depth == 1 and self._enters_list(chunk, begin, at, mark):
                    yield Head(bytes(self.kept) + chunk[begin:at] + b"]}")
                    self.kept.clear()
                    self.level, begin = 2, at
                elif self.depth == self.level:
                    yield from self._between(chunk[begin : at - 1])
                    begin = at - 1
                self.depth += 1
            else:
                self.depth -= 1
                if self.depth == self.level:
                    yield self._item(chunk[begin:at])
                    begin = at
                    self.is_over = self.level == 0
                elif self.depth == self.level - 1:
                    yield from self._between(chunk[begin : at - 1])
                    self.is_over, begin = True, at
        self._keep(chunk[begin:])

    def _pass_over(self, mark: int) -> None:
        """Behind the last chat only what our object says after its list may come."""
        if not self.depth:
            raise BrokenFile("breaks_off")
        self.depth += 1 if mark in _OPENING else -1

    def end(self) -> None:
        if self.level < 0:
            raise BrokenFile("not_json" if self.kept.strip() else "empty")
        if self.depth or self.in_string or not self.is_over:
            raise BrokenFile("breaks_off")

    def _begin(self, chunk: bytes) -> bytes:
        """The first mark says whether this is a list or an object; anything else isn't JSON that holds chats."""
        chunk = bytes(self.kept) + chunk
        self.kept.clear()
        start = chunk.removeprefix(_MARK).lstrip()
        if not start:
            return chunk
        if start[0] not in _OPENING:
            raise BrokenFile("not_json")
        self.level = 1 if start[:1] == b"[" else 0
        if self.level:
            self.depth = 1
            return start[1:]
        return start

    def _next_mark(self, chunk: bytes, at: int) -> int:
        """Where the next bracket outside of all strings stands; -1 for none in this chunk."""
        if self.is_escaped and chunk:
            at, self.is_escaped = at + 1, False
        while True:
            found = (_INSIDE if self.in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                return -1
            at = found.end()
            if chunk[at - 1] == 0x22:
                self.in_string = not self.in_string
            elif not self.in_string:
                return at - 1
            elif at < len(chunk):
                at += 1
            else:
                self.is_escaped = True
                return -1

    def _enters_list(self, chunk: bytes, begin: int, at: int, mark: int) -> bool:
        if mark != 0x5B or self.has_dropped:
            return False
        return bool(_LIST_OF_CHATS.search((bytes(self.kept[-64:]) + chunk[begin : at - 1])[-64:]))

    def _between(self, gap: bytes) -> Iterator[Slice]:
        """What stands between two items: a comma. Anything else is an item that is no chat."""
        if self.has_dropped:
            raise BrokenFile("too_large")
        gap = bytes(self.kept) + gap
        self.kept.clear()
        for one in gap.split(b","):
            if one.strip():
                yield Slice(one.strip())

    def _item(self, rest: bytes) -> Slice:
        data = None if self.has_dropped else bytes(self.kept) + rest
        if data is not None and len(data) > self.most_bytes:
            data = None
        self.kept.clear()
        self.has_dropped = False
        return Slice(data)

    def _keep(self, rest: bytes) -> None:
        """The beginning of an item, unless it is too long already; between items there is nothing to keep for long."""
        if self.is_over:
            if rest.strip() and not self.depth:
                raise BrokenFile("breaks_off")
            return
        if self.has_dropped:
            return
        self.kept += rest
        is_between = self.level > 0 and self.depth == self.level
        if len(self.kept) > (MOST_HEAD_BYTES if is_between else self.most_bytes):
            if is_between:
                raise BrokenFile("not_json")
            self.kept.clear()
            self.has_dropped = True
