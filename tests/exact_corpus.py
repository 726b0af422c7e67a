"""Talk with its exact values marked, from fixtures/exact_values.md: `{kind|text}` is a value of that kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compaction.exact import Value
from compaction.exact.kinds import narrowed
from compaction.transcript import Message

FILE = Path(__file__).parent / "fixtures" / "exact_values.md"
MARK = re.compile(r"\{(\w+)\|([^{}|]+)\}")


@dataclass(frozen=True, slots=True)
class Marked:
    kind: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Talk:
    title: str
    language: str
    messages: tuple[Message, ...]
    marked: tuple[Marked, ...]


def talks() -> tuple[Talk, ...]:
    return tuple(_talk(part) for part in FILE.read_text("utf-8").split("# ") if part.strip())


def _talk(part: str) -> Talk:
    heading, _, body = part.partition("\n")
    title, language = heading.rstrip(")").rsplit(" (", 1)
    messages, marked = [], []
    for position, line in enumerate(body.strip().split("\n")):
        role, _, text = line.partition(": ")
        marked += [Marked(kind, said, language) for kind, said in MARK.findall(text)]
        messages.append(Message(position + 1, position, role, MARK.sub(r"\2", text)))
    return Talk(title, language, tuple(messages), tuple(marked))


def same(text: str) -> str:
    """A value as it is compared: spaces and width don't count."""
    return "".join(narrowed(text).split())


def kept_by(values: Sequence[Value], keeps: str) -> str:
    """What a summariser would write that keeps "all" values, every other one ("half"), or "none"."""
    kept = {"all": values, "half": values[::2], "none": ()}[keeps]
    return "They talked.\n" + "\n".join(f"- {value.subject} {value.text}" for value in kept)
