"""Whether a reply without a word was kept from it by a full window (rule B5)."""

import pytest

from compaction.budget import Limits
from compaction.filling import was_window_full
from compaction.transcript import Usage

LIMITS = Limits(window=1_000, threshold_percent=80, tail_percent=30, summary_percent=5)
THOUGHTS = "thought " * 300


def was_full(usage: Usage | None, *, reason: str = "length", limits: Limits = LIMITS, prompt: int = 600) -> bool:
    return was_window_full(
        finish_reason=reason, usage=usage, estimated_prompt=prompt, reasoning=THOUGHTS, limits=limits
    )


@pytest.mark.parametrize(("completion", "expected"), [(199, False), (200, True), (400, True)])
def test_b5_recorded_usage_decides_at_the_trigger(completion: int, *, expected: bool) -> None:
    assert was_full(Usage(600, completion)) is expected


@pytest.mark.parametrize(("prompt", "expected"), [(400, False), (600, True)])
def test_b5_without_usage_prompt_and_reasoning_are_estimated(prompt: int, *, expected: bool) -> None:
    assert was_full(None, prompt=prompt) is expected


def test_b5_estimates_are_corrected_by_the_ratio() -> None:
    assert was_full(None, prompt=400, limits=Limits(1_000, 80, 30, 5, ratio=1.3))


@pytest.mark.parametrize("reason", ["stop", "", "content_filter"])
def test_b5_another_end_is_no_full_window(reason: str) -> None:
    assert not was_full(Usage(600, 400), reason=reason)


def test_b5_with_an_unknown_window_nothing_is_guessed() -> None:
    assert not was_full(Usage(600, 400), limits=Limits(0, 80, 30, 5))


@pytest.mark.parametrize(("completion", "expected"), [(240, False), (260, True)])
def test_b5_at_threshold_0_most_of_the_window_counts(completion: int, *, expected: bool) -> None:
    assert was_full(Usage(600, completion), limits=Limits(1_000, 0, 30, 5)) is expected
