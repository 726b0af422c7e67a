"""A code block that is still being written: line by line, and a long one in parts, so that a frame stays small."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.utils.safestring import SafeString, mark_safe

from chatapp.rendering.highlighting import code_box, code_part

# Characters after which a part of a long code block is sent once and for all.
PART = 4_000


@dataclass(slots=True)
class OpenFence:
    """An opened top-level code block. `blocks` of one are a box, or parts that the style sheet joins."""

    markup: str
    indent: int
    language: str
    code: str = ""
    parts: int = 0
    closing: re.Pattern[str] = field(init=False)
    perhaps_closing: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        mark = re.escape(self.markup[0])
        self.closing = re.compile(rf" {{0,3}}{mark}{{{len(self.markup)},}}[ \t]*")
        self.perhaps_closing = re.compile(rf" {{0,3}}{mark}+[ \t]*")

    def closes_with(self, line: str) -> bool:
        return self.closing.fullmatch(line) is not None

    def dedent(self, line: str) -> str:
        """Without the fence's indent; a tab that reaches beyond it leaves its rest as spaces, as CommonMark says."""
        width = taken = 0
        while width < self.indent and line[taken : taken + 1] in {" ", "\t"}:
            width += 4 - width % 4 if line[taken] == "\t" else 1
            taken += 1
        return " " * max(0, width - self.indent) + line[taken:]

    def add(self, line: str) -> SafeString | None:
        """Takes a complete line of code; answers with a part when one is full."""
        self.code += self.dedent(line) + "\n"
        if len(self.code) < PART:
            return None
        part = code_part(self.code, language=self.language, first=self.parts == 0)
        self.parts += 1
        self.code = ""
        return part

    def close(self) -> SafeString | None:
        """The block, or the last of its parts."""
        if self.parts == 0:
            return code_box(self.code, language=self.language)
        return code_part(self.code) if self.code else None

    def tail(self, line: str) -> SafeString:
        """What isn't sent for good yet, with an unfinished line unless that may become the closing fence."""
        code = self.code if self.perhaps_closing.fullmatch(line) else self.code + self.dedent(line)
        if self.parts == 0:
            return code_box(code, language=self.language, colours=False)
        return code_part(code) if code else mark_safe("")
