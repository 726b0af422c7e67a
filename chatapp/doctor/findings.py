"""What the doctor says of one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    LOOK = "look at this"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """`words` say what is so, `remedy` what to do about it; both are sentences without any secret."""

    level: Level
    subject: str
    words: str
    remedy: str = ""


Examination = Callable[[], Iterable[Finding]]


def fine(subject: str, words: str) -> Finding:
    return Finding(Level.OK, subject, words)


def look(subject: str, words: str, remedy: str = "") -> Finding:
    return Finding(Level.LOOK, subject, words, remedy)


def broken(subject: str, words: str, remedy: str) -> Finding:
    return Finding(Level.BROKEN, subject, words, remedy)
