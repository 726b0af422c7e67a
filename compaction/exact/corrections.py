"""Which value was corrected by a later one: only where the later message says so in words, and one value fits (H2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from compaction.exact.kinds import Kind
from compaction.exact.values import Key, Value

REMEMBERED = 50
RECENT = 2
DIGITS = re.compile(r"[0-9０-９.,'’\s-]+")


@dataclass(slots=True)
class _Said:
    """A value by its first mention, and where it was said last."""

    value: Value
    last: int
    clause: str


@dataclass(slots=True)
class Corrections:
    """Is told every mention in order. What the person wrote is corrected by the person alone."""

    _alike: dict[tuple[Kind, str], dict[Key, _Said]] = field(default_factory=dict)
    _said: dict[Key, _Said] = field(default_factory=dict)
    _later: dict[Key, Value] = field(default_factory=dict)
    _earlier: dict[Key, Value] = field(default_factory=dict)

    def note(self, value: Value, *, is_correction: bool) -> None:
        alike = self._alike.setdefault((value.kind, _unit(value)), {})
        if is_correction:
            old, new = _pair(value, list(alike.values()))
            if old and new and old.key != new.key and (new.role == "user" or old.role != "user"):
                self._later[old.key], self._earlier[new.key] = new, old
                self._later.pop(new.key, None)
        said = alike.pop(value.key, None) or _Said(value, value.position, value.clause)
        said.last, said.clause = value.position, value.clause
        alike[value.key] = self._said[value.key] = said
        if len(alike) > REMEMBERED:
            del alike[next(iter(alike))]

    def note_again(self, key: Key, position: int) -> None:
        self._said[key].last = position

    def marked(self, value: Value) -> Value:
        """The value with what it corrects and what corrects it; "no, 14" is the number of a room if 12 was."""
        later, earlier = self._later.get(value.key), self._earlier.get(value.key)
        if not later and not earlier:
            return value
        return replace(
            value,
            corrected_to=later.text if later else "",
            instead_of=earlier.text if earlier else "",
            subject=value.subject or (earlier.subject if earlier else ""),
        )


def _pair(value: Value, alike: list[_Said]) -> tuple[Value | None, Value | None]:
    """The old and the new one. In one clause the new one is what wasn't said before; else the one that it can mean."""
    fresh = [
        said.value for said in alike if said.value.position == value.position and said.value.clause == value.clause
    ]
    known = [said for said in alike if said.value not in fresh]
    if any(said.value.key == value.key for said in known):
        return value, next(iter(fresh), None)
    if beside := [said.value for said in known if said.last == value.position and said.clause == value.clause]:
        return beside[-1], value
    return _meant(value, known), value


def _meant(value: Value, known: list[_Said]) -> Value | None:
    """The one value under the same subject, or the only one of the last messages; none where it could be several."""
    subject = value.subject.casefold()
    same = [said.value for said in known if subject and said.value.subject.casefold() == subject]
    fitting = same or [
        said.value for said in known if said.last >= value.position - RECENT and not (subject and said.value.subject)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _unit(value: Value) -> str:
    """What two values share when one can stand for the other: the unit of an amount, the length of a number."""
    if value.kind is Kind.NUMBER:
        return str(sum(map(str.isdigit, value.text)))
    return DIGITS.sub("", value.text).casefold() if value.kind is Kind.AMOUNT else ""
