"""The words around what was found, with the words themselves marked; safe to put on a page."""

from __future__ import annotations

import re
from functools import cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chatapp.searching.wording import Term, bare

BEFORE, AFTER = 60, 160
# Of each term that many characters are looked for in the text: enough to mark it, and soon compiled.
MARKED = 30
NOTHING = "(?!)"
_ACCENTS = "[\u0300-\u036f]*"


class Marker:
    """What the terms of one query match, for as many texts as there are."""

    def __init__(self, terms: list[Term]) -> None:
        self.pattern = re.compile("|".join(map(_term_pattern, terms)) or NOTHING, re.IGNORECASE)

    def relevance(self, text: str) -> float:
        """The more matches, and the less beside them, the more; the same in every database."""
        return sum(1 for _ in self.pattern.finditer(text)) / (len(text) + BEFORE + AFTER)

    def snippet(self, text: str) -> SafeString:
        """About 220 characters around the first match, matches in <mark>; the opening words where none is seen."""
        first = self.pattern.search(text)
        start, end = _window(text, first.start() if first else 0)
        marked = self._mark(" ".join(text[start:end].split()))
        return mark_safe(f"{'… ' if start else ''}{marked}{' …' if end < len(text) else ''}")  # noqa: S308 (escaped)

    def _mark(self, piece: str) -> str:
        marked, here = [], 0
        for match in self.pattern.finditer(piece):
            marked += [escape(piece[here : match.start()]), f"<mark>{escape(match[0])}</mark>"]
            here = match.end()
        return "".join([*marked, escape(piece[here:])])


def _window(text: str, at: int) -> tuple[int, int]:
    start, end = max(0, at - BEFORE), min(len(text), at + AFTER)
    if start:
        blank = text.find(" ", start, at)
        start = start if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", at, end)
        end = end if blank <= at else blank
    return start, end


def _term_pattern(term: Term) -> str:
    if term.is_literal:
        return re.escape(term.text)
    text = bare(term.text)
    words = re.findall(r"[^\W_]+", text[:MARKED])
    ending = r"[^\W_]*" if term.is_prefix or len(text) > MARKED else r"(?![^\W_])"
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
