"""The corpus of marked talk: what is found in it, and what a record holds whatever the summariser keeps (rule H)."""

from __future__ import annotations

from collections import Counter

import pytest

from compaction.exact import Kind, Value, exact_block, find_values, missing
from tests.exact_corpus import Talk, kept_by, same, talks

TALKS = talks()
MARKED = [marked for talk in TALKS for marked in talk.marked]


def test_h1_the_corpus_is_what_it_says_it_is() -> None:
    assert len(MARKED) >= 300
    assert {marked.kind for marked in MARKED} == set(Kind)
    assert {marked.language for marked in MARKED} == {"en", "fr", "de", "zh", "ja"}
    assert min(Counter(marked.language for marked in MARKED).values()) >= 60


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.title)
def test_h1_every_marked_value_is_found_by_its_kind(talk: Talk) -> None:
    found = {(value.kind.value, same(value.text)) for value in find_values(talk.messages)}
    assert {(marked.kind, same(marked.text)) for marked in talk.marked} <= found


def test_h1_hardly_anything_else_is_found() -> None:
    marked = {(talk.title, same(one.text)) for talk in TALKS for one in talk.marked}
    found = [(talk.title, same(value.text)) for talk in TALKS for value in find_values(talk.messages)]
    assert sum(value in marked for value in found) / len(found) >= 0.95


@pytest.mark.parametrize("keeps", ["all", "half", "none"])
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.title)
def test_h3_below_the_cap_every_value_is_kept_whatever_the_summary_keeps(talk: Talk, keeps: str) -> None:
    values: tuple[Value, ...] = find_values(talk.messages)
    summary = kept_by(values, keeps)
    block = exact_block(values, summary, cap_tokens=10_000)
    assert (block.kept + len(block.added), block.left_out) == (block.total, ())
    assert missing(values, summary + block.text) == ()
    assert bool(block.added) == (keeps != "all")
