"""A whole text at once: the canonical HTML of a reply, a summary or a reasoning."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.safestring import SafeString, mark_safe

from chatapp.rendering.markdown import BUDGET, block_html, blocks_of, cheap_html
from chatapp.rendering.text import clean, plain_blocks

# Characters that are read as Markdown; what follows them is shown as plain text.
MAX_CHARACTERS = 100_000


def render(text: str) -> SafeString:
    """Canonical, sanitised HTML: a row of blocks, each one element. Never raises, whatever the text.

    Nothing between them, as in a frame: a page that has shown them one by one keeps every one at the reply's end.
    """
    return mark_safe("".join(rendered_blocks(clean(text))))  # noqa: S308 (each block is sanitised)


def rendered_blocks(text: str) -> Iterator[SafeString]:
    end = len(text) if len(text) <= MAX_CHARACTERS else text.rfind("\n", 0, MAX_CHARACTERS) + 1
    spent = 0
    for block in blocks_of(text[:end]):
        spent += block.cost
        yield block_html(block) if spent <= BUDGET else cheap_html(block)
    yield from plain_blocks(text[end:])
