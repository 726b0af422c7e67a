"""Finding the exact values of messages: every kind in its turn, each value once, with the clause that explains it (H1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from compaction.exact import addresses, amounts, keys, moments, numbers
from compaction.exact.clauses import Clauses
from compaction.exact.corrections import Corrections, corrects
from compaction.exact.kinds import TAKEN, Finder, Hit, Kind, narrowed
from compaction.exact.values import SHORT_NUMBER, Value
from compaction.transcript import Message

FENCED = re.compile(r"^ {0,3}(```|~~~).*$", re.MULTILINE)

# What is found first takes its characters: a date is no version, a URL no path.
FINDERS: tuple[Finder, ...] = (
    *keys.CODE_FINDERS,
    *keys.FIXED_FINDERS,
    *addresses.ADDRESS_FINDERS,
    *keys.ANNOUNCED_FINDERS,
    *moments.DATE_FINDERS,
    *addresses.PATH_FINDERS,
    numbers.PHONE_FINDER,
    moments.TIME_FINDER,
    *amounts.FINDERS,
    *keys.VERSION_FINDERS,
    *keys.TOKEN_FINDERS,
    *numbers.LABELLED_FINDERS,
    *keys.VERSION_OF_FINDERS,
    moments.YEAR_FINDER,
    numbers.BARE_FINDER,
)


def find_values(messages: Iterable[Message]) -> tuple[Value, ...]:
    """In order of first mention. The same value said again, in whatever width or spacing, is one value."""
    found: dict[tuple[str, str], Value] = {}
    corrections = Corrections()
    for message in messages:
        for value in _values_of(message):
            known = found.get(value.key)
            found[value.key] = _together(known, value) if known else replace(value, order=len(found))
            corrections.note(value)
    return tuple(corrections.marked(value) for value in found.values())


def _together(known: Value, again: Value) -> Value:
    is_persons = again.role == "user" and known.role != "user"
    first = replace(known, role="user", clause=again.clause, subject=again.subject) if is_persons else known
    return replace(first, position=again.position)


def _values_of(message: Message) -> Iterator[Value]:
    texts = [message.content, *(call.arguments for call in message.tool_calls)]
    for text in texts:
        clauses = Clauses(text)
        is_talk = message.role in ("user", "assistant") and text is message.content
        for hit in hits(text, is_talk=is_talk):
            clause = clauses.around(hit.start, hit.end)
            said = " ".join(text[hit.start : hit.end].split())
            if hit.kind is Kind.NUMBER and not hit.subject and _is_bare(said) and not corrects(clause):
                continue
            yield Value(hit.kind, said, clause, message.role, message.position, subject=hit.subject)


def _is_bare(text: str) -> bool:
    return text.isdigit() and len(text) < SHORT_NUMBER - 1


def hits(text: str, *, is_talk: bool = True) -> tuple[Hit, ...]:
    """Every value of a text in its order. `is_talk`: quotes hold names and backticks code; in data they are syntax."""
    text = narrowed(text)
    found: list[Hit] = []
    free = text
    for finder in FINDERS if is_talk else FINDERS[len(keys.CODE_FINDERS) :]:
        free = _search(finder, free, found)
    if is_talk:
        _search(keys.NAME_FINDER, _without_code(free), found)
    return tuple(sorted(found, key=lambda hit: hit.start))


def _search(finder: Finder, text: str, found: list[Hit]) -> str:
    """Adds what is found; the text with it crossed out."""
    parts: list[str] = []
    at = 0
    for match in finder.pattern.finditer(text):
        hit = finder.judge(match)
        if hit and hit.end > hit.start >= at:
            found.append(hit)
            parts += (text[at : hit.start], TAKEN * (hit.end - hit.start))
            at = hit.end
    return "".join((*parts, text[at:])) if parts else text


def _without_code(text: str) -> str:
    """Fenced blocks crossed out: their quotes are strings."""
    marks = [found.start() for found in FENCED.finditer(text)]
    if len(marks) % 2:
        marks.append(len(text))
    parts, at = [], 0
    for start, end in zip(marks[::2], marks[1::2], strict=True):
        parts += (text[at:start], TAKEN * (end - start))
        at = end
    return "".join((*parts, text[at:]))
