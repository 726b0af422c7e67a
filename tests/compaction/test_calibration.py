from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.calibration import learn_ratio
from compaction.tokens import MESSAGE_TOKENS, estimate_text

COUNTS = json.loads((Path(__file__).parent.parent / "fixtures" / "token_counts.json").read_text())
TOKENISERS = ["cl100k_base", "o200k_base", "smollm2"]
# What the demo model's template puts before every chat.
TEMPLATE_TOKENS = 24


def after(*recorded: int, ratio: float = 1.0, estimated: int = 1_000) -> float:
    for tokens in recorded:
        ratio = learn_ratio(ratio, recorded=tokens, estimated=estimated)
    return ratio


@pytest.mark.parametrize("true", [500, 600, 800, 1_000, 1_500, 2_200, 3_000])
def test_a4_after_five_turns_the_ratio_is_within_ten_percent(true: int) -> None:
    assert after(*[true] * 5) == pytest.approx(true / 1_000, rel=0.1)


@pytest.mark.parametrize("tokeniser", TOKENISERS)
@pytest.mark.parametrize("name", COUNTS)
def test_a4_after_five_turns_estimates_are_within_ten_percent(name: str, tokeniser: str) -> None:
    ratio, said, counted = 1.0, estimate_text(COUNTS[name]["text"]), COUNTS[name][tokeniser]
    for turn in range(1, 6):
        estimated, recorded = turn * (said + MESSAGE_TOKENS), turn * (counted + MESSAGE_TOKENS) + TEMPLATE_TOKENS
        ratio = learn_ratio(ratio, recorded=recorded, estimated=estimated)
    assert ratio * 6 * (said + MESSAGE_TOKENS) == pytest.approx(6 * (counted + MESSAGE_TOKENS), rel=0.1)


@pytest.mark.parametrize("outlier", [0, 499, 500, 4_000, 90_000])
def test_a4_one_outlier_moves_the_ratio_by_a_quarter_and_is_forgotten_in_two_turns(outlier: int) -> None:
    learned = after(*[1_500] * 8)
    assert after(outlier, ratio=learned) == pytest.approx(learned, rel=0.26)
    assert after(outlier, 1_500, 1_500, ratio=learned) == pytest.approx(1.5, rel=0.05)


def test_a4_noise_of_a_tenth_stays_within_a_tenth() -> None:
    assert after(1_540, 1_260, 1_540, 1_260, 1_400, 1_540) == pytest.approx(1.4, rel=0.1)


@pytest.mark.parametrize("recorded", [0, 10, 49])
def test_a4_a_prompt_that_was_cut_in_silence_teaches_nothing(recorded: int) -> None:
    assert learn_ratio(1.3, recorded=recorded * 10, estimated=1_000) == 1.3


@pytest.mark.parametrize("estimated", [-1, 0, 9, 99])
def test_a4_a_short_request_teaches_nothing(estimated: int) -> None:
    assert learn_ratio(1.3, recorded=400, estimated=estimated) == 1.3


@given(st.floats(0.5, 3.0), st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), max_size=20))
def test_a4_the_ratio_is_held_within_half_and_three(ratio: float, calls: list[tuple[int, int]]) -> None:
    for recorded, estimated in calls:
        ratio = learn_ratio(ratio, recorded=recorded, estimated=estimated)
    assert 0.5 <= ratio <= 3.0
