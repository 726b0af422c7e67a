"""Whether a text still holds a value: character for character, whatever the spaces between its parts (rule H2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from compaction.exact.kinds import Kind, narrowed
from compaction.exact.values import Value

# In these a space may come and go: "20 minutes" and "20minutes", "48 250" and "48250".
SPACED = frozenset({Kind.AMOUNT, Kind.DATE, Kind.TIME, Kind.NUMBER, Kind.PHONE})
LETTER = re.compile(r"[A-Za-z0-9_À-ÖØ-öø-ɏ]")
NUMERAL = re.compile(r"[0-9〇零一二两三四五六七八九十百千万億亿]")
SEPARATORS = frozenset(".,'’")
JOINTS = frozenset("-._")
# How far from a short number the word may stand that says what it is.
NEAR = 40


def missing(values: Iterable[Value], summary: str) -> tuple[Value, ...]:
    """The values that the summary lost, in their order. A changed digit, letter or sign is a loss."""
    text = Held(summary)
    return tuple(value for value in values if not text.holds(value))


class Held:
    """A text without its spaces, with a note of where they were."""

    def __init__(self, text: str) -> None:
        self.pieces = narrowed(text).split()
        self.text = "".join(self.pieces)

    @cached_property
    def gaps(self) -> frozenset[int]:
        """Indices of the characters that stood behind a space."""
        at, found = 0, []
        for piece in self.pieces:
            found.append(at)
            at += len(piece)
        return frozenset(found)

    @cached_property
    def folded(self) -> str:
        return self.text.casefold()

    def holds(self, value: Value) -> bool:
        wanted = Held(value.text)
        at = self.text.find(wanted.text) if wanted.text else -1
        while at >= 0:
            if self._is_whole(at, wanted, value.kind) and self._says(value, at):
                return True
            at = self.text.find(wanted.text, at + 1)
        return False

    def _is_whole(self, at: int, wanted: Held, kind: Kind) -> bool:
        """Whether the characters there are the value itself, and not part of a longer one or of two."""
        end = at + len(wanted.text)
        before, after = self._before(at), self._after(end)
        if _runs_on(before, wanted.text, backwards=True) or _runs_on(after, wanted.text, backwards=False):
            return False
        goes_deeper = kind in (Kind.PATH, Kind.URL) and len(after) == 2 and after[0] in "/\\"
        return not goes_deeper and self._is_spaced_alike(at, wanted, kind)

    def _is_spaced_alike(self, at: int, wanted: Held, kind: Kind) -> bool:
        for index in range(1, len(wanted.text)):
            is_apart, was_apart = at + index in self.gaps, index in wanted.gaps
            if is_apart == was_apart:
                continue
            pair = wanted.text[index - 1 : index + 1]
            are_both_digits, are_both_letters = pair.isdigit(), pair.isalpha() and pair.isascii()
            if kind not in SPACED or are_both_letters or (are_both_digits and is_apart):
                return False
        return True

    def _says(self, value: Value, at: int) -> bool:
        """A short number counts as kept only beside the word that says what it is."""
        if not value.needs_subject:
            return True
        subject = "".join(narrowed(value.subject).split()).casefold()
        around = self.folded[max(0, at - NEAR) : at + len(value.text) + NEAR]
        return subject in around

    def _before(self, at: int) -> str:
        """Up to two characters before, the nearer one last; none across a space but in "48 250"."""
        if at in self.gaps:
            is_grouped = at >= 1 and self.text[at - 1].isdigit() and self.text[at : at + 3].isdigit()
            return "0" if is_grouped and not self.text[at + 3 : at + 4].isdigit() else ""
        return self.text[at - 1 : at] if at - 1 in self.gaps else self.text[max(0, at - 2) : at]

    def _after(self, end: int) -> str:
        if end in self.gaps:
            group = self.text[end : end + 3]
            is_grouped = len(group) == 3 and group.isdigit() and self.text[end - 1].isdigit()
            return "0" if is_grouped and (end + 3 in self.gaps or not self.text[end + 3 : end + 4].isdigit()) else ""
        return self.text[end : end + 1] if end + 1 in self.gaps else self.text[end : end + 2]


def _runs_on(neighbours: str, wanted: str, *, backwards: bool) -> bool:
    """Whether the characters next to a find belong to the same word or number."""
    edge = wanted[0] if backwards else wanted[-1]
    if backwards:
        neighbours = neighbours[::-1]
    near, far = neighbours[:1], neighbours[1:2]
    if not near:
        return False
    if NUMERAL.match(edge) and (NUMERAL.match(near) or (near in SEPARATORS and far.isdigit())):
        return True
    if not LETTER.match(edge):
        return False
    if backwards and edge.isdigit() and near in "-−" and not LETTER.match(far or " "):
        return True
    if LETTER.match(near):
        is_same_v = backwards and near in "vV" and edge.isdigit() and not LETTER.match(far or " ")
        return not is_same_v
    return near in JOINTS and bool(LETTER.match(far or " "))
