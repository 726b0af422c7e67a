"""The kinds of exact values, and what one way of finding them is; the ways themselves lie beside it (rule H1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    PATH = "path"
    URL = "url"
    EMAIL = "email"
    HOST = "host"
    IP = "ip"
    ID = "id"
    TICKET = "ticket"
    VERSION = "version"
    DATE = "date"
    TIME = "time"
    AMOUNT = "amount"
    NUMBER = "number"
    PHONE = "phone"
    CODE = "code"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a value stands in a text. `subject`: the word that says what a bare number counts or names."""

    kind: Kind
    start: int
    end: int
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Finder:
    """`judge` says what a match is, or None where it only looks like a value."""

    pattern: re.Pattern[str]
    judge: Callable[[re.Match[str]], Hit | None]


# Chinese and Japanese put no spaces between words, so only letters of other scripts make a border to a value.
LATIN = "A-Za-z0-9_À-ÖØ-öø-ɏ"
START, END = rf"(?<![{LATIN}])", rf"(?![{LATIN}])"
# What a value already found is overwritten with, so that no other kind reads into it.
TAKEN = "\x00"

# Letters, digits and the marks inside values in their full width; the marks of sentences stay what they are.
NARROW = {
    code: code - 0xFEE0
    for code in range(0xFF01, 0xFF5F)
    if chr(code - 0xFEE0).isalnum() or chr(code - 0xFEE0) in "#%+-./:@_~$()"
} | {0xFFE5: 0xA5, 0x3000: 0x20}


# The wide comma ends clauses too, so it is read as a separator of thousands between wide digits alone.
WIDE_THOUSANDS = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


def narrowed(text: str) -> str:
    """The text in half-width characters; as long as before."""
    return WIDE_THOUSANDS.sub(",", text).translate(NARROW)


def all_of(kind: Kind, pattern: str) -> Finder:
    """Finds the whole match, or the group "value" where there is one."""
    compiled = re.compile(pattern)
    group = "value" if "value" in compiled.groupindex else 0
    return Finder(compiled, lambda match: Hit(kind, match.start(group), match.end(group)))
