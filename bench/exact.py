"""Exact values of the marked corpus: how many a record holds, by kind, whatever the summariser keeps (rule H3)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from bench.table import Line, milliseconds
from compaction.exact import Value, exact_block, exact_cap, find_values, missing
from compaction.tokens import estimate_text
from tests.exact_corpus import kept_by, same, talks

WINDOW = 32_768
KEEPS = ("all", "half", "none")


def measure() -> Iterator[Line]:
    corpus = talks()
    began = time.process_time()
    found = [find_values(talk.messages) for talk in corpus]
    seconds = time.process_time() - began
    size = sum(len(message.content) for talk in corpus for message in talk.messages)
    marked = {(talk.title, same(one.text)) for talk in corpus for one in talk.marked}
    said = [(talk.title, same(value.text)) for talk, values in zip(corpus, found, strict=True) for value in values]
    hit = len(marked & set(said))
    yield Line("marked values found", f"{hit} of {len(marked)}", f"{len(said)} found in all; {size:,} characters")
    yield Line("finding them", milliseconds(seconds), "of processor time")
    for keeps in KEEPS:
        yield from _kept(found, keeps)


def _kept(found: list[tuple[Value, ...]], keeps: str) -> Iterator[Line]:
    total: Counter[str] = Counter()
    held: Counter[str] = Counter()
    tokens = []
    for values in found:
        summary = kept_by(values, keeps)
        block = exact_block(values, summary, cap_tokens=exact_cap(WINDOW))
        tokens.append(estimate_text(block.text))
        lost = missing(values, summary + block.text)
        total.update(value.kind.value for value in values)
        held.update(value.kind.value for value in values if value not in lost)
    kinds = ", ".join(f"{kind} {held[kind]}/{count}" for kind, count in sorted(total.items()))
    yield Line(f"values kept, summariser keeps {keeps}", f"{held.total()} of {total.total()}", kinds)
    yield Line(f"longest block, summariser keeps {keeps}", f"{max(tokens)} tokens", f"cap {exact_cap(WINDOW):,}")
