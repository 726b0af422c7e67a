"""Plain text as HTML: what a person typed, and what is too long or too tangled to be read as Markdown."""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

UNPRINTABLE = re.compile("[\x00\ud800-\udfff]")
BLANK_LINE = re.compile(r"\n[ \t]*\n")


def clean(text: str) -> str:
    """The text with one kind of line end, and U+FFFD for what neither HTML nor UTF-8 can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return UNPRINTABLE.sub("\ufffd", text)


def plain_block(text: str) -> SafeString:
    """One paragraph; its class keeps line breaks and runs of spaces as they were typed."""
    return mark_safe(f'<p class="plain" dir="auto">{escape(text)}</p>')  # noqa: S308 (escaped)


def plain_blocks(text: str) -> list[SafeString]:
    """One paragraph for every run of lines between blank lines."""
    return [plain_block(part.strip("\n")) for part in BLANK_LINE.split(text) if part.strip()]


def render_plain(text: str) -> SafeString:
    """A person's own message: paragraphs, line breaks and spaces kept, everything escaped, no Markdown."""
    return mark_safe("".join(plain_blocks(clean(text))))  # noqa: S308 (each block is escaped)
