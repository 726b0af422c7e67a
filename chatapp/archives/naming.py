"""A title as the name of a file."""

from __future__ import annotations

import re


def file_name(title: str, ending: str) -> str:
    """Letters, digits and dashes only, so that no path, header or shell is misled by it; at most some 70 characters."""
    words = re.sub(r"[\W_]+", "-", title).strip("-")[:60].rstrip("-")
    return f"foldline-{words or 'chat'}.{ending}"
