"""Finding the exact values of messages: kind by kind, each value once, with the clause that explains it (rule H1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from compaction.exact import addresses, amounts, keys, moments, numbers
from compaction.exact.clauses import Clauses
from compaction.exact.corrections import Corrections
from compaction.exact.kinds import TAKEN, Finder, Hit, Kind, narrowed
from compaction.exact.values import Key, Value
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
    found: dict[Key, Value] = {}
    last: dict[Key, int] = {}
    corrections = Corrections()
    for message in messages:
        for mention in _mentions(message):
            key = mention.key
            known, is_correction = found.get(key), mention.is_correction
            # What is only said again needs no clause: a long paste says the same things often.
            if known and not is_correction and (known.role == "user" or message.role != "user"):
                corrections.note_again(key, message.position)
            elif value := _value(mention, message, order=len(found)):
                found[key] = _together(known, value) if known else value
                corrections.note(value, is_correction=is_correction)
            last[key] = message.position
    return tuple(corrections.marked(replace(value, position=last[key])) for key, value in found.items())


def _together(known: Value, again: Value) -> Value:
    """The clause of the first mention, the person's before the model's."""
    return replace(again, order=known.order) if again.role == "user" != known.role else known


@dataclass(frozen=True, slots=True)
class _Mention:
    hit: Hit
    text: str
    clauses: Clauses

    @property
    def key(self) -> Key:
        return Value(self.hit.kind, self.text, "", "", 0, subject=self.hit.subject).key

    @property
    def is_correction(self) -> bool:
        return self.clauses.corrects(self.hit.start, self.hit.end)


def _mentions(message: Message) -> Iterator[_Mention]:
    for text in (message.content, *(call.arguments for call in message.tool_calls)):
        is_talk = message.role in ("user", "assistant") and text is message.content
        clauses = Clauses(text)
        for hit in hits(text, is_talk=is_talk):
            yield _Mention(hit, " ".join(text[hit.start : hit.end].split()), clauses)


def _value(mention: _Mention, message: Message, *, order: int) -> Value | None:
    """None for two digits of which no word says what they are."""
    hit = mention.hit
    is_bare = hit.kind is Kind.NUMBER and not hit.subject and mention.text.isdigit() and len(mention.text) < 3
    if is_bare and not mention.is_correction:
        return None
    clause = mention.clauses.around(hit.start, hit.end)
    return Value(hit.kind, mention.text, clause, message.role, message.position, order, hit.subject)


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
    parts: list[str] = []
    at = 0
    for start, end in zip(marks[::2], marks[1::2], strict=True):
        parts += (text[at:start], TAKEN * (end - start))
        at = end
    return "".join((*parts, text[at:]))
