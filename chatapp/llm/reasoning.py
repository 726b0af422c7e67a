"""Parts a reply from its reasoning where the model writes it between think tags, over any chunk borders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatapp.llm.deltas import ReasoningDelta, TextDelta, TextWasReasoning

TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\s*>|\[(/?)THINK\]", re.IGNORECASE)
TAG_NAMES = ("<think>", "<thinking>", "<thought>", "<reasoning>", "[THINK]")
BEGINNINGS = {
    tag[:length].lower()
    for name in TAG_NAMES
    for tag in (name, name[0] + "/" + name[1:])
    for length in range(1, len(tag))
}
LONGEST_BEGINNING = max(map(len, BEGINNINGS))

Part = TextDelta | ReasoningDelta | TextWasReasoning


class ThinkSplitter:
    """Tags count where a model writes them: an opening one at the start of the reply or of a line, an end tag inside.

    Elsewhere, and in code, they are words of the reply. Nested tags are counted; an unclosed one runs to the end.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._held = ""  # what may be the beginning of a tag
        self._line = ""  # the unfinished line of the text so far
        self._has_text = False
        self._has_reasoning = False
        self._in_fence = False
        self._is_after_reasoning = False

    def feed(self, text: str) -> Iterator[Part]:
        if not (self._held or self._depth or self._is_after_reasoning) and "<" not in text and "[" not in text:
            yield from self._take(text)  # nearly every chunk
            return
        text, self._held = self._held + text, ""
        start = 0
        for tag in TAG.finditer(text):
            yield from self._take(text[start : tag.start()])
            yield from self._meet(tag)
            start = tag.end()
        rest = text[start:]
        cut = _beginning_of_a_tag(rest)
        self._held = rest[cut:]
        yield from self._take(rest[:cut])

    def saw_reasoning(self) -> None:
        """The endpoint sends reasoning in a field of its own; a stray end tag then says nothing about the text."""
        self._has_reasoning = True

    def finish(self) -> Iterator[Part]:
        held, self._held = self._held, ""
        yield from self._take(held)

    def _meet(self, tag: re.Match[str]) -> Iterator[Part]:
        is_end = bool(tag[1] or tag[2])
        if self._depth:
            self._depth += -1 if is_end else 1
            self._is_after_reasoning = not self._depth
        elif self._line.strip() or self._in_fence:
            yield from self._take(tag[0])
        elif not is_end:
            self._depth = 1
        elif self._has_text and not self._has_reasoning:
            self._has_text, self._has_reasoning, self._is_after_reasoning = False, True, True
            yield TextWasReasoning()

    def _take(self, text: str) -> Iterator[Part]:
        if not text:
            return
        if self._depth:
            self._has_reasoning = True
            yield ReasoningDelta(text)
            return
        if self._is_after_reasoning:
            text = text.lstrip()
            if not text:
                return
            self._is_after_reasoning = False
        self._follow(text)
        yield TextDelta(text)

    def _follow(self, text: str) -> None:
        """Keeps track of lines and fences, which say whether a tag is one."""
        self._has_text = self._has_text or not text.isspace()
        *ended, last = text.split("\n")
        for part in ended:
            if (self._line + part).lstrip().startswith(("```", "~~~")):
                self._in_fence = not self._in_fence
            self._line = ""
        self._line = (self._line + last)[:80]  # its beginning is enough to know what it is


def _beginning_of_a_tag(text: str) -> int:
    """Where a tag may have begun that the next chunk would end; the text's length where none has."""
    for cut in range(max(0, len(text) - LONGEST_BEGINNING), len(text)):
        if text[cut] in "<[" and text[cut:].lower() in BEGINNINGS:
            return cut
    return len(text)
