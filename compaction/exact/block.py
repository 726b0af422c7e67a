"""What the summary lost, put under it: each value in its clause, the person's first, within a cap (rules H2, H3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from compaction.exact.clauses import shortened
from compaction.exact.keeping import Held, missing
from compaction.exact.values import Value
from compaction.planning import ASSUMED_WINDOW
from compaction.quoting import neutralise
from compaction.tokens import estimate_text

HEADING = "\n\nExact values:"
# A block where it may stand: at the end of a segment, before the next one or with what closes the record.
BLOCK = re.compile(rf"{HEADING}(?:\n- [^\n]*)+(?:(?=\n\n\[Later\]\n)|(?:\n</\w+>\s*)?\Z)")
# Clauses get shorter where there are many, before any value is left out.
WIDTHS = (120, 60, 36)


@dataclass(frozen=True, slots=True)
class ExactBlock:
    """`text` goes right behind the summary; "" where nothing was added. kept + added + left_out = total."""

    text: str
    kept: int
    added: tuple[Value, ...]
    left_out: tuple[Value, ...]
    total: int


@dataclass(slots=True)
class _Draft:
    """Lines within the cap, and what they hold."""

    cap_tokens: int
    width: int
    corrected: dict[str, list[Value]]
    lines: list[str] = field(default_factory=list)
    tokens: int = estimate_text(HEADING) + 1
    added: list[Value] = field(default_factory=list)
    left_out: list[Value] = field(default_factory=list)
    by_clause: dict[str, list[Held]] = field(default_factory=dict)

    def add(self, value: Value) -> None:
        beside = self.by_clause.setdefault(value.clause, [])
        if any(line.holds(value) for line in beside):
            self.added.append(value)
            return
        line = _line(value, self.width, self.corrected.get(value.clause, []))
        tokens = estimate_text(line) + 1
        if self.tokens + tokens > self.cap_tokens:
            self.left_out.append(value)
            return
        self.tokens += tokens
        self.lines.append(line)
        self.added.append(value)
        beside.append(Held(line))


def exact_cap(window: int, *, percent: int = 4) -> int:
    """Tokens that the block may take; an unknown window counts as 8,192."""
    return (window or ASSUMED_WINDOW) * percent // 100


def exact_block(values: Iterable[Value], summary: str, *, cap_tokens: int) -> ExactBlock:
    """`summary` is all that the record says without this block: earlier segments and the new one.

    Earlier segments, their blocks with them, stay as they are. Where segments are merged into one, `values` are those
    of all the messages that they cover: the source is always the messages, never an earlier block.
    """
    every = tuple(values)
    lost = sorted(missing(every, summary), key=_rank)
    corrected: dict[str, list[Value]] = {}
    for value in every:
        if value.corrected_to:
            corrected.setdefault(value.clause, []).append(value)
    draft = _drafted(lost, cap_tokens, corrected)
    text = "\n".join((HEADING, *draft.lines)) if draft.lines else ""
    return ExactBlock(text, len(every) - len(lost), tuple(draft.added), tuple(draft.left_out), len(every))


def split_blocks(record: str) -> tuple[tuple[str, bool], ...]:
    """A record in stretches that, joined, are it again; True for one that is a block of exact values."""
    stretches: list[tuple[str, bool]] = []
    end = 0
    for block in BLOCK.finditer(record):
        stretches += [(record[end : block.start()], False), (block[0], True)]
        end = block.end()
    stretches.append((record[end:], False))
    return tuple(stretch for stretch in stretches if stretch[0])


def _rank(value: Value) -> tuple[bool, bool, int, int]:
    """What still holds before what was corrected, the person's before the model's, newer before older."""
    return bool(value.corrected_to), value.role != "user", -value.position, value.order


def _drafted(lost: list[Value], cap_tokens: int, corrected: dict[str, list[Value]]) -> _Draft:
    for width in WIDTHS:
        draft = _Draft(cap_tokens, width, corrected)
        for value in lost:
            draft.add(value)
            if draft.left_out and width != WIDTHS[-1]:
                break
        else:
            return draft
    return draft


def _line(value: Value, width: int, corrected: list[Value]) -> str:
    """The clause, marked "(5432 → 5433)" where it says a value that was corrected, or one that corrects another."""
    named = f"{value.subject} {value.text}" if value.needs_subject else value.text
    for said in (_clause(value, width), named):
        pairs = [(old.text, old.corrected_to) for old in corrected if old.text in said]
        if value.instead_of:
            pairs.append((value.instead_of, value.text))
        marks = [f" ({old} → {new})" for old, new in pairs if old not in said or new not in said]
        line = neutralise("".join((f"- {said}", *marks)))
        if Held(line).holds(value):
            break
    return line


def _clause(value: Value, width: int) -> str:
    start = value.clause.find(value.text)
    if start < 0:
        return value.text
    end = start + len(value.text)
    return shortened(value.clause, start, end, left=0, right=len(value.clause), longest=width)
