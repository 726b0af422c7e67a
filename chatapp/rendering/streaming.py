"""A text while it is being written: finished blocks are given out once, and only the unfinished end again."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chatapp.rendering.fences import OpenFence
from chatapp.rendering.markdown import BUDGET, Block, block_html, blocks_of, cheap_html
from chatapp.rendering.mending import mend
from chatapp.rendering.text import BLANK_LINE, clean, plain_block, plain_blocks
from chatapp.rendering.whole import MAX_CHARACTERS

# A long unfinished end is read again only when it has grown by a 32nd, so the cost a character stays the same.
PATIENCE = 32
NOTHING = mark_safe("")


@dataclass(frozen=True, slots=True)
class Frame:
    """Newly finished blocks, each one element, after the `done_from` that were finished before, and the rest.

    `has_new_tail`: the rest is another than in the frame before.
    """

    done_from: int
    blocks: tuple[SafeString, ...]
    tail: SafeString
    has_new_tail: bool = True

    @property
    def has_news(self) -> bool:
        return self.has_new_tail or bool(self.blocks)


class StreamedText:
    """One text as it grows. A block that is finished never changes, in whatever pieces the text arrives.

    A block counts as finished when the line that begins the next one is complete: "#" alone is a heading, but "#x"
    goes on with the paragraph before it.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._offset = 0
        self._pending = ""
        self._fence: OpenFence | None = None
        self._is_plain = False
        self._last: Block | None = None
        self._spent = 0
        self._blocks: list[SafeString] = []
        self._given = 0
        self._given_tail: SafeString = NOTHING
        self._read_length = 0
        self._tail: SafeString = NOTHING

    def update(self, text: str) -> Frame:
        """Takes the whole text so far. The tail of a very long block may lag a little behind; a snapshot never does."""
        self._take(text)
        if len(self._pending) - self._read_length > self._read_length // PATIENCE:
            self._read()
        done_from, self._given = self._given, len(self._blocks)
        given_tail, self._given_tail = self._given_tail, self._tail
        return Frame(done_from, tuple(self._blocks[done_from:]), self._tail, given_tail != self._tail)

    def snapshot(self) -> Frame:
        """Everything taken so far, for a first paint; what update() gives out next is not touched by it."""
        if self._read_length != len(self._pending):
            self._read()
        return Frame(0, tuple(self._blocks), self._tail)

    def _take(self, text: str) -> None:
        end = len(text) - 1 if text.endswith("\r") else len(text)
        if end > self._seen:
            self._pending += clean(text[self._seen : end])
            self._seen = end

    def _read(self) -> None:
        while self._advance():
            pass
        self._tail = self._unfinished()
        self._read_length = len(self._pending)

    def _drop(self, characters: int) -> None:
        self._offset += characters
        self._pending = self._pending[characters:]
        self._read_length = 0

    def _advance(self) -> bool:
        """Finishes what is complete; whether there may be more to finish."""
        if self._fence is not None:
            return self._advance_code(self._fence)
        if self._is_plain:
            return self._advance_plain()
        return self._advance_markdown()

    def _advance_plain(self) -> bool:
        ends = [gap.end() for gap in BLANK_LINE.finditer(self._pending)]
        if ends:
            self._blocks += plain_blocks(self._pending[: ends[-1]])
            self._drop(ends[-1])
        return False

    def _advance_code(self, fence: OpenFence) -> bool:
        *complete, _ = self._pending.split("\n")
        read = 0
        for line in complete:
            read += len(line) + 1
            closes = fence.closes_with(line)
            if block := fence.close() if closes else fence.add(line):
                self._blocks.append(block)
            if closes:
                self._fence = None
                break
        self._drop(read)
        return self._fence is None

    def _advance_markdown(self) -> bool:
        room = MAX_CHARACTERS - self._offset
        is_over = len(self._pending) > room
        readable = self._pending[: self._pending.rfind("\n", 0, max(room, 0) if is_over else None) + 1]
        blocks = list(blocks_of(readable))
        finished, last = blocks[:-1], blocks[-1] if blocks else None
        self._last = last if readable == self._pending else None
        for block in finished:
            self._finish(block)
        self._drop(start_of_line(readable, last.first_line) if last else 0)
        if last and last.is_fence:
            self._open_fence(last)
            return True
        self._is_plain = is_over
        return is_over

    def _finish(self, block: Block) -> None:
        if block.is_fence:
            self._blocks += code_blocks(block)
            return
        self._spent += block.cost
        self._blocks.append(block_html(block) if self._spent <= BUDGET else cheap_html(block))

    def _open_fence(self, block: Block) -> None:
        self._fence = open_fence(block)
        self._drop(start_of_line(self._pending, 1))

    def _unfinished(self) -> SafeString:
        if self._fence is not None:
            return self._fence.tail(self._pending)
        if self._is_plain:
            return plain_block(self._pending.strip("\n")) if self._pending.strip() else NOTHING
        blocks = [self._last] if self._last else list(blocks_of(mend(self._pending)))
        if self._spent + sum(block.cost for block in blocks) > BUDGET:
            return mark_safe("".join(map(cheap_html, blocks)))  # noqa: S308 (escaped)
        return mark_safe("".join(block_html(block, colours=False) for block in blocks))  # noqa: S308 (sanitised)


def split(text: str) -> Frame:
    """All blocks of a text in mid-stream, and its unfinished end."""
    streamed = StreamedText()
    streamed.update(text.removesuffix("\r"))
    return streamed.snapshot()


def start_of_line(text: str, line: int) -> int:
    """Where the line (counted from 0) begins."""
    position = 0
    for _ in range(line):
        position = text.index("\n", position) + 1
    return position


def open_fence(block: Block) -> OpenFence:
    indent = len(block.source) - len(block.source.lstrip(" "))
    return OpenFence(block.tokens[0].markup, indent, block.language)


def code_blocks(block: Block) -> list[SafeString]:
    """A complete code block, in the same parts as when its lines come one by one."""
    fence = open_fence(block)
    _, *lines = block.source.removesuffix("\n").split("\n")
    closing = [line for line in lines if not fence.closes_with(line)]
    return [part for part in (*map(fence.add, closing), fence.close()) if part]
