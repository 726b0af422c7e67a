from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from compaction.budget import Limits, Meter, headroom_tokens, measure, trigger_tokens
from compaction.request import assemble
from compaction.tokens import estimate_message, estimate_request
from compaction.transcript import Transcript, Usage
from tests.compaction.talk import LIMITS, chat, random_chat, reply, result, turns, user


def used(transcript: Transcript, limits: Limits = LIMITS, *, pending: str = "") -> int:
    return measure(transcript, limits, pending_text=pending).used


def test_a2_recorded_usage_counts_with_an_estimate_of_what_is_newer() -> None:
    asked = user("and then what")
    meter = measure(chat(user("hi"), reply("hello", usage=Usage(100, 20)), asked), LIMITS)
    assert (meter.used, meter.measured) == (120 + estimate_message(asked), True)


def test_a2_without_usage_the_whole_request_is_estimated() -> None:
    transcript = chat(*turns(2), user("next"), system="Be brief.", summary="They met.", archived=2)
    meter = measure(transcript, LIMITS)
    assert meter.used == pytest.approx(estimate_request(assemble(transcript)), abs=4)
    assert not meter.measured


def test_a2_reasoning_is_not_sent_again_so_it_does_not_count() -> None:
    assert used(chat(user("hi"), reply("hello", usage=Usage(100, 60, reasoning=40)))) == 120


def test_a2_reasoning_told_beside_the_completion_is_not_taken_off() -> None:
    assert used(chat(user("hi"), reply("hello", usage=Usage(100, 20, reasoning=40, total=160)))) == 120


def test_a2_usage_of_another_model_is_not_used() -> None:
    meter = measure(chat(user("hi"), reply("hello", usage=Usage(900, 20), model="other")), LIMITS)
    assert not meter.measured
    assert meter.used < 50


def test_a2_usage_from_before_the_boundary_is_not_used() -> None:
    kept = reply("hello", usage=Usage(900, 20), is_new=False)
    assert not measure(chat(user("hi"), kept, summary="They met.", archived=2), LIMITS).measured


def test_a2_pending_text_counts() -> None:
    transcript = chat(user("hi"), reply("hello", usage=Usage(100, 20)))
    meter = measure(transcript, LIMITS, pending_text="three more words")
    assert meter.pending > 3
    assert meter.used == 120 + meter.pending


def test_a3_parts_win_over_a_total_that_differs() -> None:
    assert used(chat(user("hi"), reply("hello", usage=Usage(100, 20, total=999)))) == 120


def test_a3_cached_tokens_are_part_of_the_prompt() -> None:
    plain, cached = (chat(user("hi"), reply("hello", usage=Usage(100, 20, cached=n))) for n in (0, 80))
    assert used(plain) == used(cached)


def test_a3_in_a_tool_loop_the_last_call_counts() -> None:
    loop = [reply("", calls="a", usage=Usage(100, 10)), result("a"), reply("done", usage=Usage(130, 5))]
    assert used(chat(user("look"), *loop)) == 135


def test_a3_more_than_one_and_a_half_windows_is_too_large() -> None:
    meter = measure(chat(user("hi"), reply("hello", usage=Usage(1_490, 11))), LIMITS)
    assert (meter.measured, meter.distrusted) == (False, "too_large")
    assert meter.used < 50


def test_a3_one_and_a_half_windows_is_believed() -> None:
    assert used(chat(user("hi"), reply("hello", usage=Usage(1_490, 10)))) == 1_500


def test_a3_under_half_of_the_estimate_is_too_small() -> None:
    meter = measure(chat(*turns(1), user("hi"), reply("ok", usage=Usage(99, 1), estimated_prompt=200)), LIMITS)
    assert (meter.measured, meter.distrusted) == (False, "too_small")


def test_a3_half_of_the_estimate_is_believed() -> None:
    assert used(chat(user("hi"), reply("ok", usage=Usage(100, 1), estimated_prompt=200))) == 101


def test_a3_more_cached_than_prompt_tokens_is_too_small() -> None:
    assert measure(chat(user("hi"), reply("ok", usage=Usage(10, 1, cached=90))), LIMITS).distrusted == "too_small"


@pytest.mark.parametrize("usage", [None, Usage(0, 0), Usage(0, 30)])
def test_a3_missing_or_zero_usage_is_an_estimate(usage: Usage | None) -> None:
    assert not measure(chat(user("hi"), reply("hello", usage=usage)), LIMITS).measured


def test_a3_a_reply_without_usage_leaves_the_older_usage_in_use() -> None:
    newer = [user("more"), reply("yes")]
    transcript = chat(user("hi"), reply("hello", usage=Usage(100, 20)), *newer)
    assert used(transcript) == 120 + sum(map(estimate_message, newer))


def test_a4_the_ratio_scales_estimates() -> None:
    transcript = chat(*turns(3))
    assert used(transcript, replace(LIMITS, ratio=2.0)) == pytest.approx(2 * used(transcript), abs=2)


@pytest.mark.parametrize(
    ("window", "percent", "trigger"),
    [(1_000, 85, 850), (1_000, 0, 0), (0, 85, 0), (8_192, 50, 4_096), (100, 100, 100)],
)
def test_a5_trigger_is_a_percentage_of_the_window_or_never(window: int, percent: int, trigger: int) -> None:
    assert trigger_tokens(window, percent) == trigger


@pytest.mark.parametrize(("size", "is_near", "is_over"), [(749, False, False), (750, True, False), (850, True, True)])
def test_a5_near_is_ten_points_of_the_window_below_the_trigger(size: int, is_near: bool, is_over: bool) -> None:
    meter = Meter(size, 850, 1_000, measured=True, system=0, summary=0, live=size, pending=0)
    assert (meter.near_trigger, meter.over_trigger) == (is_near, is_over)


@pytest.mark.parametrize(
    ("completions", "window", "headroom"),
    [
        ([], 8_000, 1_000),
        ([100, 200], 8_000, 1_000),
        ([2_001, 5], 8_000, 2_402),
        ([], 200_000, 8_192),
        ([9_000, *[10] * 10], 8_000, 1_000),
        ([10, *[9_000] * 9], 8_000, 10_800),
        ([], 0, 0),
    ],
)
def test_a6_headroom_is_for_the_longest_of_the_last_ten_completions(
    completions: list[int], window: int, headroom: int
) -> None:
    assert headroom_tokens(completions, window) == headroom


@pytest.mark.parametrize(
    ("percent", "headroom", "trigger"),
    [(85, 0, 850), (85, 150, 850), (85, 151, 849), (85, 400, 600), (85, 900, 500), (95, 125, 875), (30, 900, 300)],
)
def test_a6_the_trigger_moves_down_to_where_the_reply_fits_but_not_below_half(
    percent: int, headroom: int, trigger: int
) -> None:
    limits = replace(LIMITS, threshold_percent=percent, headroom=headroom)
    assert limits.trigger == trigger
    assert limits.is_moved_by_headroom == (trigger < percent * 10)


@pytest.mark.parametrize("changes", [{"threshold_percent": 0}, {"window": 0}])
def test_a6_headroom_never_switches_automatic_compaction_on(changes: dict[str, int]) -> None:
    limits = replace(LIMITS, headroom=900, **changes)
    assert (limits.trigger, limits.is_moved_by_headroom) == (0, False)


@pytest.mark.parametrize(
    ("continuing", "headroom", "idle_trigger"),
    [(0, 0, 850), (50, 0, 850), (100, 0, 850), (150, 0, 800), (150, 125, 675), (150, 400, 500), (900, 0, 500)],
)
def test_b1_the_idle_moment_comes_before_the_next_turn_takes_the_room_for_the_question(
    continuing: int, headroom: int, idle_trigger: int
) -> None:
    limits = replace(LIMITS, continuing=continuing, headroom=headroom)
    assert limits.idle_trigger == idle_trigger
    assert measure(chat(*turns(1)), limits).idle_trigger == idle_trigger


@pytest.mark.parametrize("changes", [{"threshold_percent": 0}, {"window": 0}])
def test_b1_room_for_the_question_never_switches_automatic_compaction_on(changes: dict[str, int]) -> None:
    assert replace(LIMITS, continuing=300, **changes).idle_trigger == 0


@pytest.mark.parametrize(("headroom", "is_moved"), [(0, False), (400, True)])
def test_a6_the_meter_says_that_the_trigger_was_moved(headroom: int, is_moved: bool) -> None:
    meter = measure(chat(*turns(1)), replace(LIMITS, headroom=headroom))
    assert (meter.headroom_moved, meter.trigger) == (is_moved, 600 if is_moved else 850)


def test_a1_an_unknown_window_fits_everything_and_triggers_nothing() -> None:
    meter = measure(chat(*turns(50)), replace(LIMITS, window=0))
    assert meter.fits
    assert (meter.over_trigger, meter.near_trigger) == (False, False)


@given(random_chat())
def test_a7_the_parts_add_up(transcript: Transcript) -> None:
    meter = measure(transcript, LIMITS, pending_text="a few words")
    assert meter.system + meter.summary + meter.pinned + meter.live + meter.pending == meter.used
    assert min(meter.system, meter.summary, meter.live) >= 0


def test_a7_the_parts_add_up_when_less_was_recorded_than_estimated() -> None:
    transcript = chat(user("hi"), reply("ok", usage=Usage(10, 1)), system="Be brief and kind. " * 20)
    meter = measure(transcript, LIMITS)
    assert (meter.used, meter.system + meter.summary + meter.live) == (11, 11)


def test_k4_after_a_compaction_the_measured_offset_is_added() -> None:
    bare = chat(user("hi"), reply("ok", is_new=False), summary="They met.", archived=4)
    meter = measure(replace(bare, measured_offset=70), LIMITS)
    assert (meter.used, meter.measured) == (used(bare) + 70, False)


def test_k4_the_size_is_never_below_the_estimate() -> None:
    bare = chat(user("hi"), reply("ok", is_new=False), summary="They met.", archived=4)
    assert used(replace(bare, measured_offset=-70)) == used(bare)
