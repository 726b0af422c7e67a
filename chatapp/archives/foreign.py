"""A conversation of another program as plain values: what all of their exports have in common, and small readers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from chatapp.history.texts import storable

OLDEST, NEWEST = 1970, 9998
USER, ASSISTANT = "user", "assistant"


@dataclass(slots=True)
class Node:
    """One message, or a hidden step between two (then `role` is ""): what hangs on it hangs on what it hangs on."""

    parent: str | None
    role: str = ""
    content: str = ""
    reasoning: str = ""
    model: str = ""
    created: datetime | None = None

    @property
    def is_hidden(self) -> bool:
        return not self.role or not (self.content.strip() or self.reasoning.strip())


@dataclass(slots=True)
class Conversation:
    """`foreign_id`: what its program calls it, "" where it has no name. `current`: the node that was shown last.

    `nodes`: in the file's order, which is that of versions. `dropped`: how many fields there is no place for here.
    """

    kind: str
    foreign_id: str
    title: str
    nodes: dict[str, Node]
    current: str | None = None
    system_prompt: str = ""
    model: str = ""
    created: datetime | None = None
    changed: datetime | None = None
    dropped: int = 0


def text_of(value: Any) -> str:
    return storable(value) if isinstance(value, str) else ""


def key_of(value: Any) -> str | None:
    """An id, which is a text or a whole number."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def dict_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def time_of(value: Any) -> datetime | None:
    """Seconds or milliseconds since 1970, or ISO 8601; nothing for a time that can't be."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            time: datetime | None = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        else:
            time = parse_datetime(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    if time is None or not OLDEST <= time.year <= NEWEST:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def attached(names: list[str]) -> str:
    """Files stay where they were; the message says what they were called."""
    return "\n".join(f"[Attached: {' '.join(name.split())[:200]}]" for name in names if name.strip())


def fenced(text: str, language: str = "") -> str:
    """As a code block that ends where it should, whatever marks the text holds."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{re.sub('[^A-Za-z0-9+#-]', '', language)[:20]}\n{text.strip()}\n{fence}"


def paragraphs(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def count_dropped(value: dict[str, Any], used: frozenset[str]) -> int:
    """Fields that say something and that nobody reads."""
    return sum(1 for name, each in value.items() if name not in used and each not in (None, "", [], {}, False))
