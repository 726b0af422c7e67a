"""The words around what was found, with the words themselves marked; safe to put on a page."""

from __future__ import annotations

import re
from functools import cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chatapp.searching.wording import Term, bare

BEFORE, AFTER = 60, 160
_ACCENTS = "[\u0300-\u036f]*"


def snippet(text: str, terms: list[Term]) -> SafeString:
    """About 220 characters around the first match, matches in <mark>; the opening words where none is seen."""
    pattern = _pattern(terms)
    first = pattern.search(text) if pattern else None
    start, end = _window(text, first.start() if first else 0)
    piece = " ".join(text[start:end].split())
    marked = _mark(piece, pattern)
    return mark_safe(f"{'… ' if start else ''}{marked}{' …' if end < len(text) else ''}")  # noqa: S308 (escaped)


def _window(text: str, at: int) -> tuple[int, int]:
    start, end = max(0, at - BEFORE), min(len(text), at + AFTER)
    if start:
        blank = text.find(" ", start, at)
        start = start if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", at, end)
        end = end if blank <= at else blank
    return start, end


def _mark(piece: str, pattern: re.Pattern[str] | None) -> str:
    if pattern is None:
        return escape(piece)
    marked, here = [], 0
    for match in pattern.finditer(piece):
        marked += [escape(piece[here : match.start()]), f"<mark>{escape(match[0])}</mark>"]
        here = match.end()
    return "".join([*marked, escape(piece[here:])])


def _pattern(terms: list[Term]) -> re.Pattern[str] | None:
    found = [pattern for pattern in map(_term_pattern, terms) if pattern]
    return re.compile("|".join(found), re.IGNORECASE) if found else None


def _term_pattern(term: Term) -> str:
    if term.is_literal:
        return re.escape(term.text)
    words = re.findall(r"[^\W_]+", bare(term.text))
    ending = r"[^\W_]*" if term.is_prefix else r"(?![^\W_])"
    return r"(?<![^\W_])" + r"[\W_]+".join("".join(map(_letter, word)) for word in words) + ending


def _letter(letter: str) -> str:
    variants = _accented().get(letter, "")
    return (f"[{letter}{variants}]" if variants else re.escape(letter)) + _ACCENTS


@cache
def _accented() -> dict[str, str]:
    """Each letter's accented forms."""
    forms: dict[str, str] = {}
    for letter in map(chr, range(0xC0, 0x2000)):
        plain = bare(letter)
        if len(plain) == 1 and plain.isalpha() and plain != letter.lower():
            forms[plain] = forms.get(plain, "") + letter
    return forms
