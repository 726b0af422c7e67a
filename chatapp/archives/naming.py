"""A title as the name of a file."""

from __future__ import annotations

import re


def file_name(title: str, ending: str) -> str:
    """Letters, digits and dashes only, so that no path, header or shell is misled by it; at most some 70 characters."""
    return f"foldline-{_words(title)}.{ending}"


def entry_name(number: int, title: str, ending: str) -> str:
    """The same within a ZIP, where several chats may have one title."""
    return f"{number:04d}-{_words(title)}.{ending}"


def _words(title: str) -> str:
    return re.sub(r"[\W_]+", "-", title).strip("-")[:60].rstrip("-") or "chat"
