"""What every stored text goes through, whoever wrote it: both databases must be able to hold it."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without NUL (PostgreSQL refuses it) and with lone surrogates replaced; real pairs are joined."""
    text = text.replace("\0", "\ufffd")
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def as_typed(text: str) -> str:
    """What a browser's box holds, as it is stored."""
    return storable(text).replace("\r\n", "\n")


def first_words(text: str, *, most: int = 48) -> str:
    """The opening of `text` as a title until a better one is found; at most `most` characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[:most]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,.;:") + "…"
