from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.setbacks import Setback, read_setback


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ("Conversation roles must alternate user/assistant/user/assistant/...", "refused_by_template"),
        ("Jinja Exception: only user and assistant roles are supported!", "refused_by_template"),
        ("System role not supported", "refused_by_template"),
        ("After the optional system message, conversation roles must alternate", "refused_by_template"),
        ("Failed to apply chat template", "refused_by_template"),
        ("the model is not loaded", "refused"),
        ("prompt is too long: 9000 tokens > 8192 maximum", "refused"),
    ],
)
def test_e3_a_refusal_falls_back_and_one_by_the_template_suspends(refusal: str, code: str) -> None:
    assert read_setback(refusal=refusal) == Setback(code, suspends=code == "refused_by_template")


@pytest.mark.parametrize("answer", [{"tool_calls": True, "text": "They met."}, {"text": "<tool_call>{}</tool_call>"}])
def test_e3_one_tool_call_suspends(answer: dict[str, Any]) -> None:
    assert read_setback(**answer) == Setback("tool_call", suspends=True)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"text": ""}, "empty"),
        ({"text": " \n"}, "empty"),
        ({"text": "", "reasoning_only": True}, "only_reasoning"),
        ({"text": "<think>all of it</think>"}, "only_reasoning"),
        ({"text": "<think>never closed"}, "only_reasoning"),
    ],
)
@pytest.mark.parametrize(("empties", "suspends"), [(0, False), (1, True)])
def test_e3_an_empty_answer_falls_back_and_the_second_suspends(
    answer: dict[str, Any], code: str, empties: int, suspends: bool
) -> None:
    assert read_setback(**answer, empties=empties) == Setback(code, suspends=suspends)


@given(st.text(st.characters(categories=["Ll", "Lu"]), min_size=1))
def test_e3_an_answer_with_words_is_left_to_the_judge(text: str) -> None:
    assert read_setback(text=text) is None


@pytest.mark.parametrize(("empties", "suspends"), [(0, False), (1, True)])
@pytest.mark.parametrize("code", ["apology", "copy", "too_short"])
def test_e3_words_that_are_no_summary_count_like_none(code: str, empties: int, suspends: bool) -> None:
    assert read_setback(text="I'm sorry.", judged=code, empties=empties) == Setback(code, suspends=suspends)


def test_e3_a_summary_that_is_only_too_long_is_no_setback() -> None:
    assert read_setback(text="They met and talked.", judged="too_large", empties=1) is None
