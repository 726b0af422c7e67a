from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compaction.overflow import Overflow, read_overflow

ANSWERS = json.loads((Path(__file__).parent.parent / "fixtures" / "overflow.json").read_text())


def body_of(answer: dict[str, Any]) -> str:
    return answer["body"] if isinstance(answer["body"], str) else json.dumps(answer["body"])


def verdict_of(answer: dict[str, Any]) -> Overflow | None:
    return Overflow(answer["window"] or 0) if answer["overflow"] else None


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['server']}-{answer['status']}")
def test_b3_real_answers_are_read_from_the_body(answer: dict[str, Any]) -> None:
    assert read_overflow(answer["status"], "", body_of(answer)) == verdict_of(answer)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['server']}-{answer['status']}")
def test_b3_real_answers_are_read_without_regard_to_case(answer: dict[str, Any]) -> None:
    assert read_overflow(answer["status"], "", body_of(answer).upper()) == verdict_of(answer)


def test_b3_the_message_alone_is_enough() -> None:
    assert read_overflow(400, "prompt is too long: 210000 tokens > 200000 maximum", "") == Overflow(200_000)


def test_b3_an_angle_bracket_escaped_in_json_is_read() -> None:
    body = r'{"message": "prompt is too long: 210000 tokens \u003e 200000 maximum"}'
    assert read_overflow(400, "", body) == Overflow(200_000)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'user': string too long. Expected a string with maximum length 64",
        "Too many tokens, please wait before trying again.",
        "Rate limit reached: request too large, reduce the length of the messages (tokens per minute)",
        "Connection error.",
        "The model is overloaded, context: none",
    ],
)
def test_b3_false_friends_are_no_overflow(message: str) -> None:
    assert read_overflow(400, message, "") is None


@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_b3_refusals_for_another_reason_are_no_overflow(status: int) -> None:
    assert read_overflow(status, "maximum context length is 8192 tokens", "") is None


def test_b3_another_field_that_quotes_the_words_is_no_overflow() -> None:
    body = '{"error": {"message": "bad stop: maximum context length is 8192", "param": "stop"}}'
    assert read_overflow(400, "", body) is None


def test_a1_numbers_with_separators_are_read() -> None:
    assert read_overflow(400, "This model's maximum context length is 131,072 tokens.", "") == Overflow(131_072)
