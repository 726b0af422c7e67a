"""Reasoning inside a finished text: taken out before the text is used for anything."""

from __future__ import annotations

import re

NAMES = "think|thinking|thought|reasoning"
BLOCK = re.compile(rf"<({NAMES})>.*?</\1>", re.IGNORECASE | re.DOTALL)
OPEN = re.compile(rf"^\s*<(?:{NAMES})>", re.IGNORECASE | re.MULTILINE)
# Templates that open the block themselves leave only its end in the text.
CLOSE = re.compile(rf"^.*</(?:{NAMES})>", re.IGNORECASE | re.DOTALL)


def without_thinking(text: str) -> str | None:
    """The text less its think blocks, stripped; None where a block is never closed."""
    rest = BLOCK.sub("", text)
    while (shorter := BLOCK.sub("", rest)) != rest:
        rest = shorter
    if OPEN.search(rest):
        return None
    return CLOSE.sub("", rest).strip()
