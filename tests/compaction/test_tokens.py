from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import tokens
from compaction.request import RequestMessage
from compaction.tokens import (
    IMAGE_TOKENS,
    LATIN,
    MESSAGE_TOKENS,
    MOST_KNOWN,
    estimate_message,
    estimate_request,
    estimate_text,
)
from compaction.transcript import Image, Message, ToolCall
from tests.timing import processor_seconds

# True counts of cl100k_base and o200k_base (bpe-openai 0.1.4) and of SmolLM2-135M-Instruct (llama.cpp's /tokenize).
COUNTS = json.loads((Path(__file__).parent.parent / "fixtures" / "token_counts.json").read_text())


@pytest.mark.parametrize("name", COUNTS)
def test_a4_estimate_is_within_35_percent_of_cl100k(name: str) -> None:
    true = COUNTS[name]["cl100k_base"]
    assert true * 0.65 <= estimate_text(COUNTS[name]["text"]) <= true * 1.35


@pytest.mark.parametrize("name", ["english", "french", "german", "chinese", "japanese", "korean", "emoji", "json"])
def test_a4_estimate_of_prose_is_within_35_percent_of_o200k(name: str) -> None:
    true = COUNTS[name]["o200k_base"]
    assert true * 0.65 <= estimate_text(COUNTS[name]["text"]) <= true * 1.35


@pytest.mark.parametrize("name", ["english", "python", "javascript", "json", "json compact", "base64", "log lines"])
def test_a4_estimate_of_english_and_code_is_within_35_percent_of_the_demo_model(name: str) -> None:
    true = COUNTS[name]["smollm2"]
    assert true * 0.65 <= estimate_text(COUNTS[name]["text"]) <= true * 1.36


def test_a4_an_empty_text_has_no_tokens() -> None:
    assert estimate_text("") == 0


def test_a4_a_message_costs_four_tokens_beside_its_text() -> None:
    assert estimate_message(Message(1, 0, "user", "word")) == 1 + MESSAGE_TOKENS


def test_a4_a_tool_call_counts_by_name_and_arguments() -> None:
    bare = Message(1, 0, "assistant", "")
    calling = Message(1, 0, "assistant", "", tool_calls=(ToolCall("a", "look_up", '{"city": "Rome"}'),))
    assert estimate_message(calling) > estimate_message(bare) + estimate_text('look_up{"city": "Rome"}')


def test_a4_an_image_is_a_flat_number() -> None:
    message = Message(1, 0, "user", "what is this", images=(Image("1", "a.png"), Image("2", "b.png")))
    assert estimate_message(message) == MESSAGE_TOKENS + estimate_text("what is this") + 2 * IMAGE_TOKENS


def test_a4_a_request_is_the_sum_of_its_messages() -> None:
    one = RequestMessage("user", "one two three")
    assert estimate_request([one, one]) == 2 * estimate_message(one)


@pytest.mark.parametrize("text", ["word and word " * 75_000, "漢字" * 500_000, "aB3+" * 250_000, "\n" * 10**6])
def test_a4_a_megabyte_is_estimated_in_well_under_100_ms(text: str) -> None:
    assert processor_seconds(lambda: estimate_text(text)) < 0.1


def test_a4_a_text_is_counted_once() -> None:
    text = "counted once " * 5_000
    first = processor_seconds(lambda: estimate_text(text))
    assert processor_seconds(lambda: estimate_text(text)) < first / 10


def test_a4_what_is_remembered_of_texts_has_an_end() -> None:
    for number in range(MOST_KNOWN + 1):
        estimate_text(f"{number}")
    assert len(tokens._known) <= MOST_KNOWN


def test_a4_the_slices_of_a_long_text_come_near_the_whole() -> None:
    text = "".join(f"{sample['text']}\n" for sample in COUNTS.values()) * 40
    parts = [text[start : start + 100_000] for start in range(0, len(text), 100_000)]
    assert estimate_text(text) == pytest.approx(sum(map(estimate_text, parts)), rel=0.05)


@pytest.mark.parametrize("text", ["\x00\ud800", "\u202eabc", "👨‍👩‍👧‍👦", " " * 500])
def test_a4_odd_text_is_estimated_too(text: str) -> None:
    assert 1 <= estimate_text(text) <= 3 * len(text)


@given(
    st.text(st.sampled_from("aZ9_.,;(-{ \n\t\r\x0b\x1c\x00"), max_size=40) | st.text(st.characters(max_codepoint=127))
)
def test_a4_counting_shapes_gives_what_counting_all_at_once_gives(text: str) -> None:
    assert estimate_text(text) == len(LATIN.findall(text))
