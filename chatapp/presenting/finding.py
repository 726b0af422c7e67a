"""Finding within one chat: where on its path something is said, and at which of these places the page is."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from chatapp import searching
from chatapp.models import Chat


@dataclass(frozen=True, slots=True)
class Finding:
    """`positions` of the messages that hold `text`, in their order; `at`: which of them is shown, counted from 0."""

    text: str
    positions: list[int]
    at: int

    @property
    def number(self) -> int:
        return self.at + 1

    @property
    def previous(self) -> int:
        return self.positions[self.at - 1]

    @property
    def next(self) -> int:
        return self.positions[(self.at + 1) % len(self.positions)]


def read_finding(chat: Chat, text: str, position: int | None) -> Finding:
    """`position`: the message that is looked at; the first hit from there on is shown, else the first of all."""
    positions = searching.find_in_chat(chat, text)
    at = bisect_left(positions, position or 0)
    return Finding(text, positions, at if at < len(positions) else 0)
