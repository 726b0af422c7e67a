"""Whether a chat has room in another model's window, and what it is folded against (rule B8)."""

import pytest

from compaction.budget import Limits, measure
from compaction.changing import is_too_small, limits_for_change, would_fill
from compaction.transcript import Message, Transcript, Usage


def chat(*texts: str, system_prompt: str = "", summary: str = "") -> Transcript:
    messages = tuple(
        Message(n, n, "assistant" if n % 2 else "user", text, usage=Usage(900, 10), model="new")
        for n, text in enumerate(texts)
    )
    return Transcript(system_prompt=system_prompt, summary=summary, messages=messages, model="new")


def limits(window: int, threshold: int = 80) -> Limits:
    return Limits(window=window, threshold_percent=threshold, tail_percent=30, summary_percent=5)


@pytest.mark.parametrize(
    ("window", "threshold", "expected"),
    [(1_138, 80, True), (1_140, 80, False), (910, 0, True), (911, 0, False), (0, 80, False)],
)
def test_b8_the_trigger_decides_and_at_threshold_0_the_window(window: int, threshold: int, *, expected: bool) -> None:
    assert would_fill(measure(chat("Hello", "Hi"), limits(window, threshold))) is expected


def test_b8_for_a_model_that_never_folds_the_window_is_the_trigger() -> None:
    assert limits_for_change(limits(1_000, 0)).trigger == 1_000
    assert limits_for_change(limits(1_000, 80)) == limits(1_000, 80)


def test_b8_a_window_that_holds_the_last_turn_is_large_enough() -> None:
    talk = chat("word " * 500, "Yes.", "Short?", "Short.", summary="word " * 500)

    assert not is_too_small(talk, limits(40))


def test_b8_system_prompt_and_last_turn_have_to_fit() -> None:
    assert is_too_small(chat("Hello", "Hi", "Long?", "word " * 100), limits(60))
    assert is_too_small(chat("Hello", "Hi", system_prompt="word " * 100), limits(60))
    assert is_too_small(chat("Hello", "Hi", "word " * 100), limits(60))


def test_b8_an_unknown_window_is_never_too_small() -> None:
    assert not is_too_small(chat("word " * 500), limits(0))
