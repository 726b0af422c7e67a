"""Which value was corrected by a later one: only where the later message says so in words, and one value fits (H2)."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace

from compaction.exact.kinds import Kind
from compaction.exact.values import Value

CUES = re.compile(
    r"(?i:(?:^|[.,;:–—-] ?)(?:no|nope|oops|sorry|wait|nein|non|pardon|désolée?)[,.: ]"
    r"|\b(?:actually|correction|instead of|rather than|changed (?:from|to)|change (?:it|that) to|moved (?:from|to)|not \S{1,30},? but|"
    r"postponed to|make (?:it|that)|should be|was wrong|my mistake|i meant|"
    r"doch nicht|sondern|statt|anstatt|korrektur|verschoben|verlegt|geändert (?:auf|von|in)|jetzt doch|ich meinte|"
    r"finalement|plutôt|au lieu d[eu]|je voulais dire|et non|reportée?|déplacée?|remplacée?)\b)"
    r"|不对|不是|改成|改为|改到|更正|应该是|而不是|说错|搞错|ではなく|じゃなくて|訂正|に変更|間違え|^いや|やっぱり|正しくは"
)
Key = tuple[str, str]
REMEMBERED = 50
RECENT = 2
DIGITS = re.compile(r"[0-9０-９.,'’\s-]+")


def corrects(clause: str) -> bool:
    return CUES.search(clause) is not None


@dataclass(slots=True)
class Corrections:
    """Fed every mention in order. What the person wrote is corrected by the person alone."""

    _mentions: dict[tuple[Kind, str], deque[Value]] = field(default_factory=dict)
    _later: dict[Key, Value] = field(default_factory=dict)
    _earlier: dict[Key, Value] = field(default_factory=dict)

    def note(self, value: Value) -> None:
        alike = self._mentions.setdefault((value.kind, _unit(value)), deque(maxlen=REMEMBERED))
        if corrects(value.clause):
            old, new = self._pair(value, list(alike))
            if old and new and old.key != new.key and (new.role == "user" or old.role != "user"):
                self._later[old.key], self._earlier[new.key] = new, old
                self._later.pop(new.key, None)
        alike.append(value)

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

    def _pair(self, value: Value, alike: list[Value]) -> tuple[Value | None, Value | None]:
        """The old and the new one: in one clause the new one wasn't said before; else the one that it can mean."""
        said = {other.key: other for other in alike if other.position < value.position}
        beside = [other for other in alike if other.position == value.position and other.clause == value.clause]
        if value.key in said:
            return value, next((other for other in beside if other.key not in said), None)
        if known := [other for other in beside if other.key in said]:
            return known[-1], value
        return _meant(value, list(said.values())), value


def _meant(value: Value, said: list[Value]) -> Value | None:
    same = [other for other in said if value.subject and other.subject.casefold() == value.subject.casefold()]
    if same:
        return same[-1] if len(same) == 1 else None
    recent = [other for other in said if other.position >= value.position - RECENT]
    return recent[0] if len(recent) == 1 else None


def _unit(value: Value) -> str:
    """What two values share when one can stand for the other: the unit of an amount, the length of a number."""
    if value.kind is Kind.NUMBER:
        return str(sum(map(str.isdigit, value.text)))
    return DIGITS.sub("", value.text).casefold() if value.kind is Kind.AMOUNT else ""
