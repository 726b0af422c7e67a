"""Archived messages as quoted text, packed into pieces of a given size; nothing is dropped (rule E2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compaction.tokens import estimate_text
from compaction.transcript import Message, Status

NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool result"}
UNFINISHED = {
    Status.FAILED: " (reply failed, this is all of it)",
    Status.INTERRUPTED: " (reply broke off)",
    Status.STOPPED: " (reply was stopped)",
}
BREAK = re.compile(r"\s(?=\S)")
# More characters than this to a token are not seen in any text that has words.
DENSEST = 8


def as_text(message: Message) -> str:
    """One message as the summariser reads it, with its tool calls and the names of its images; "" for an empty one."""
    calls = "".join(f"\n[calls the tool {call.name}: {call.arguments}]" for call in message.tool_calls)
    images = "".join(f"\n[shows an image: {image.name}]" for image in message.images)
    said = f"{message.content.strip()}{calls}{images}".strip()
    return f"{heading(message)}: {said}" if said else ""


def heading(message: Message) -> str:
    name = NAMES.get(message.role, message.role)
    return name + UNFINISHED.get(message.status, "") if message.role == "assistant" else name


def packed(texts: Iterable[str], room: float) -> tuple[str, ...]:
    """Texts joined by empty lines into pieces of `room` estimated tokens at most; longer ones split between words."""
    pieces: list[str] = []
    current: list[str] = []
    filled = 0
    for text in texts:
        for part in split(text, room):
            size = estimate_text(part) + 1
            if current and filled + size > room:
                pieces.append("\n\n".join(current))
                current, filled = [], 0
            current.append(part)
            filled += size
    return (*pieces, "\n\n".join(current)) if current else tuple(pieces)


def split(text: str, room: float) -> Iterator[str]:
    """Parts of at most `room` estimated tokens, cut between words where words are shorter than that."""
    position = 0
    while position < len(text):
        part = _fitting(text[position : position + max(1, int(room * DENSEST))], room)
        if position + len(part) < len(text):
            part = _to_word(part, text[position + len(part)])
        yield part.strip()
        position += len(part)


def _fitting(text: str, room: float) -> str:
    """The longest beginning that fits, nearly; at least one character."""
    while len(text) > 1 and (size := estimate_text(text) + 1) > room:
        text = text[: max(1, min(len(text) - 1, int(len(text) * room / size)))]
    return text


def _to_word(part: str, following: str) -> str:
    if following.isspace():
        return part
    end = max((found.end() for found in BREAK.finditer(part)), default=0)
    return part[:end] if end else part
