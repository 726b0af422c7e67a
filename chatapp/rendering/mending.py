"""How a text that breaks off in mid-markup is shown meanwhile: no stray backticks, stars or half-written fences."""

from __future__ import annotations

import re

# An unfinished line that may yet become a fence, a rule, a heading's underline or a list's marker.
UNDECIDED = re.compile(r"[ \t>*+\-\d.)]*(?:`{1,2}|`{3,}[^`]*|~{1,2}|~{3,}.*)|[ \t]*[-=*+_#>|]+[ \t]*")
LONE_STARS = re.compile(r"(?:(?<=\s)|^)\*{1,2}$")
BACKTICKS = re.compile(r"`+")


def mend(text: str) -> str:
    """The text so far as it is shown until its next line or mark decides what it is."""
    lines, newline, last = text.rpartition("\n")
    if last and UNDECIDED.fullmatch(last):
        return lines + newline
    before, gap, paragraph = text.rpartition("\n\n")
    if "```" in paragraph or "~~~" in paragraph:
        return text
    return before + gap + close_strong(close_code(paragraph))


def close_code(paragraph: str) -> str:
    opened, after = "", 0
    for run in BACKTICKS.finditer(paragraph):
        if not opened:
            opened, after = run[0], run.end()
        elif run[0] == opened:
            opened = ""
    if not opened:
        return paragraph
    inside = paragraph[after:].rstrip("`")
    return paragraph[:after] + inside + opened if inside.strip() else paragraph[: after - len(opened)]


def close_strong(paragraph: str) -> str:
    paragraph = LONE_STARS.sub("", paragraph)
    if "`" in paragraph or paragraph.count("**") % 2 == 0:
        return paragraph
    before, _, inside = paragraph.rpartition("**")
    inside = inside.rstrip("* \t")
    return f"{before}**{inside}**" if inside and not inside[0].isspace() else before + inside
