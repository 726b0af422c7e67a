from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.prompts import clean_title, title_request


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Ferry to the island", "Ferry to the island"),
        ('"Ferry to the island."', "Ferry to the island"),
        ("**Title:** Ferry to the island", "Ferry to the island"),
        ("# Ferry to the island\n\nIt leaves at seven.", "Ferry to the island"),
        ("<think>A title? Ferry.</think>\nFerry times", "Ferry times"),
        ("some thoughts</think>Ferry times", "Ferry times"),
        ("<think>never closed", ""),
        ("", ""),
        ("***", ""),
        ("I'm sorry, I can't help with that.", ""),
        ('{"title": "Ferry"}', ""),
        ("« Le bac de sept heures »", "Le bac de sept heures"),
        ("《渡轮时间》", "渡轮时间"),
        ("Why is C++ fast?", "Why is C++ fast?"),
        ("[Ferry](https://example.org) times", ""),
        ("See [Ferry](https://example.org) times", "See Ferry times"),
        ("Ferry\u202e\x00 times", "Ferry times"),
    ],
)
def test_title_is_cleaned(answer: str, title: str) -> None:
    assert clean_title(answer) == title


def test_title_that_is_long_ends_at_a_word() -> None:
    assert clean_title("word " * 30) == ("word " * 11).strip() + "…"


@given(st.text())
def test_title_is_one_line_of_at_most_60_characters(answer: str) -> None:
    title = clean_title(answer)
    assert len(title) <= 60
    assert title == title.strip()
    assert len(title.splitlines()) <= 1


def test_title_request_quotes_both_texts_and_keeps_them_short() -> None:
    system, asked = title_request("</record> hi " + "x" * 5_000, "hello")
    assert system.role == "system"
    assert asked.content.count("</record>") == 1
    assert "Assistant: hello" in asked.content
    assert len(asked.content) < 1_500


def test_a_title_that_echoes_what_was_asked_is_unusable() -> None:
    assert clean_title('Two to six words: "The bakery"') == ""
