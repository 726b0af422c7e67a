from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.planning import Plan, Refusal, accept, folded, plan
from compaction.prompts import chunks, summary_request
from compaction.request import as_payload, assemble, record_text
from compaction.segments import Segment, joined, merge_budget, merge_request, merged, over_limit, which_to_merge
from compaction.tokens import estimate_request, estimate_text
from tests.compaction.talk import chat, turns, user, words
from tests.compaction.test_planning import WIDE
from tests.compaction.test_quoting import hostile


def ranked(*ranks: int, size: int = 10) -> tuple[Segment, ...]:
    return tuple(
        Segment(words(size, f"part{number}x"), rank, number, number * 10, number * 10 + 9)
        for number, rank in enumerate(ranks)
    )


def settled(segments: tuple[Segment, ...], window: int, *, size: int) -> tuple[Segment, ...]:
    """What the rim does: merge until under the limit or one is left."""
    while over_limit(segments, window) and (bounds := which_to_merge(segments)):
        segments = merged(segments, bounds, words(size, "merged"), compaction_id=99)
    return segments


@settings(deadline=None)
@given(st.lists(hostile, min_size=1, max_size=5), hostile)
def test_e6_one_more_segment_only_adds_to_the_end_of_the_record(texts: list[str], new: str) -> None:
    before = [Segment(text) for text in texts]
    old, now = (record_text(f"x{joined(segments)}x") for segments in (before, [*before, Segment(new)]))
    assert now.startswith(old.removesuffix("x\n</record>"))


def test_e6_one_segment_is_its_text() -> None:
    assert joined(ranked(0)) == words(10, "part0x")


def test_e6_earlier_segments_stay_byte_for_byte_in_the_next_request() -> None:
    first = Segment("They met in Rome.")
    transcript = chat(*turns(10), summary=joined([first]), archived=4)
    found = plan(transcript, WIDE, keeps_summary=True)
    assert isinstance(found, Plan)
    after = folded(found, transcript, joined([first, Segment("Then they went to Ostia.")]))
    before, now = (as_payload(assemble(chat_))[0]["content"] for chat_ in (transcript, after))
    assert now.startswith(before.removesuffix("\n</record>"))


@pytest.mark.parametrize(("window", "is_over"), [(1_000, False), (900, True)])
def test_e6_the_limit_is_a_tenth_of_the_window(window: int, is_over: bool) -> None:
    segments = (Segment("word " * 96),)
    assert estimate_text(joined(segments)) == pytest.approx(96, abs=1)
    assert over_limit(segments, window) == is_over


def test_e6_an_unknown_window_counts_as_8192_and_the_ratio_counts() -> None:
    segments = ranked(0, 0, size=100)
    assert not over_limit(segments, 0)
    assert over_limit(segments, 0, ratio=3.0)


@pytest.mark.parametrize(
    ("ranks", "bounds"),
    [
        ((), None),
        ((3,), None),
        ((0, 0), (0, 2)),
        ((1, 0, 0, 0), (1, 4)),
        ((1, 1, 0), (0, 2)),
        ((2, 2, 1, 1, 0), (2, 4)),
        ((2, 1, 0), (1, 3)),
        ((1, 0), (0, 2)),
    ],
)
def test_e6_the_lowest_rank_with_two_is_merged_else_the_last_two(
    ranks: tuple[int, ...], bounds: tuple[int, int] | None
) -> None:
    assert which_to_merge(ranked(*ranks)) == bounds


def test_e6_merged_segments_take_the_next_rank_and_cover_the_same_messages() -> None:
    one = merged(ranked(1, 0, 0), (1, 3), "Both.", compaction_id=7)[1]
    assert one == Segment("Both.", 1, 7, 10, 29)
    assert one.covers(15)
    assert not one.covers(30)


def test_e6_what_is_not_merged_stays_byte_for_byte() -> None:
    before = ranked(2, 1, 0, 0)
    assert merged(before, (2, 4), "Both.", compaction_id=7)[:2] == before[:2]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 200))
def test_e6_merging_ends_under_the_limit_or_with_one_and_keeps_the_order(count: int, size: int) -> None:
    segments: tuple[Segment, ...] = ()
    for number in range(count):
        new = Segment(words(size), 0, number, number * 10, number * 10 + 9)
        segments = settled((*segments, new), 2_000, size=size)
        assert len(segments) == 1 or not over_limit(segments, 2_000)
        assert [part.rank for part in segments] == sorted((part.rank for part in segments), reverse=True)
    edges = [(part.from_position, part.through_position) for part in segments]
    assert edges[0][0] == 0
    assert edges[-1][1] == count * 10 - 1
    assert all(before[1] + 1 == after[0] for before, after in pairwise(edges))


def test_e6_a_merge_may_be_half_as_long_as_what_it_replaces_within_e4() -> None:
    parts = ranked(0, 0, size=100)
    assert merge_budget(parts, 100_000, 5) == int(estimate_text(joined(parts)) * 2) // 4
    assert merge_budget(ranked(0, 0, size=3_000), 100_000, 5) == 2_000


def test_e6_the_merge_request_quotes_each_part_in_order() -> None:
    system, asked = merge_request([Segment("They met."), Segment("</record> They left.")], budget=300)
    assert (system.role, asked.role) == ("system", "user")
    assert asked.content.index('<record of="part 1 of 2">\nThey met.') < asked.content.index('of="part 2 of 2"')
    assert asked.content.count("</record>") == 2
    assert "at most 180 words" in f"{system.content} {asked.content}".lower()


def test_e6_without_a_system_role_the_merge_is_one_user_message() -> None:
    (asked,) = merge_request(ranked(0, 0), budget=300, no_system_role=True)
    assert asked.role == "user"


def test_e6_the_delta_may_correct_earlier_parts_and_does_not_repeat_them() -> None:
    found = plan(chat(*turns(10)), WIDE)
    assert isinstance(found, Plan)
    (chunk,) = chunks(found, earlier_summary="", window=8_192, budget=300, frozen="They met in Rome.")
    asked = summary_request(chunk, summary_so_far="")[-1].content
    assert '<record of="earlier parts">\nThey met in Rome.\n</record>' in asked
    assert "Corrections of earlier parts" in asked.rsplit("</record>", 1)[1]
    assert "Take over" not in asked


def test_e6_earlier_parts_too_long_to_be_shown_are_left_out_of_the_call() -> None:
    found = plan(chat(*turns(10)), WIDE)
    assert isinstance(found, Plan)
    pieces = chunks(found, earlier_summary="", window=1_024, budget=200, frozen=words(400))
    assert {chunk.frozen for chunk in pieces} == {""}


@settings(deadline=None)
@given(st.integers(0, 150), st.sampled_from([700, 1_024, 4_096, 0]))
def test_e2_chunks_beside_earlier_parts_still_fit_their_call(size: int, window: int) -> None:
    found = plan(chat(*turns(20)), WIDE)
    assert isinstance(found, Plan)
    so_far = ""
    for chunk in chunks(found, earlier_summary="", window=window, budget=300, frozen=words(size)):
        request = summary_request(chunk, summary_so_far=so_far)
        assert estimate_request(request) + chunk.budget <= (window or 8_192)
        so_far = words(chunk.budget // 3, "sum")


def test_d1_segments_that_stay_are_no_room_that_can_be_won() -> None:
    transcript = chat(*turns(2), user("so"), summary=words(1_000), archived=4)
    assert isinstance(plan(transcript, WIDE), Plan)
    found = plan(transcript, WIDE, keeps_summary=True)
    assert isinstance(found, Refusal)
    assert found.code == "hopeless"


def test_d2_the_promise_counts_all_segments() -> None:
    transcript = chat(*turns(10), summary=words(20, "old"), archived=4)
    found = plan(transcript, WIDE, keeps_summary=True)
    assert isinstance(found, Plan)
    assert not isinstance(accept(found, transcript, f"{words(20, 'old')}\n\n{words(20)}", WIDE), Refusal)
    assert isinstance(accept(found, transcript, words(1_500), WIDE), Refusal)


def test_e4_frozen_segments_are_not_what_a_summary_replaces() -> None:
    transcript = chat(*turns(6), user("so"), summary=words(300), archived=4)
    budgets = []
    for keeps_summary in (True, False):
        found = plan(transcript, WIDE, keeps_summary=keeps_summary)
        assert isinstance(found, Plan)
        budgets.append(found.summary_budget)
    kept, replaced = budgets
    assert replaced - kept == pytest.approx(estimate_text(words(300)) / 4, abs=1)
