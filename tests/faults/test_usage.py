"""Usage as endpoints tell it."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.llm.usage import usage_of
from compaction.transcript import Usage


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}, Usage(10, 2, total=12)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(10, 2, 8)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(10, 2)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}, Usage(10, 2, 8)),
        (
            {"prompt_tokens": 2, "completion_tokens": 2, "cached_tokens": 8, "total_tokens": 12},
            Usage(10, 2, 8, total=12),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 8, "total_tokens": 19},
            Usage(17, 2, 8, total=19),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(10, 5, reasoning=3),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "completion_tokens_details": {"reasoning_tokens": 3},
                "total_tokens": 15,
            },
            Usage(10, 5, reasoning=3, total=15),
        ),
        ({"prompt_tokens": 10.0, "completion_tokens": None}, Usage(10, 0)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": -1, "completion_tokens": "two"}, None),
        ({"prompt_tokens": True}, None),
        ([], None),
    ],
)
def test_usage_is_read_with_its_parts_inside(told: Any, usage: Usage | None) -> None:
    assert usage_of({"usage": told}) == usage


@pytest.mark.parametrize(
    "chunk", [{"x_groq": {"usage": {"prompt_tokens": 1}}}, {"choices": [{"usage": {"prompt_tokens": 1}}]}]
)
def test_usage_is_found_in_other_places(chunk: dict[str, Any]) -> None:
    assert usage_of(chunk) == Usage(1, 0)


@pytest.mark.parametrize("chunk", [{}, {"choices": [None]}, {"choices": 5}, {"x_groq": None}])
def test_usage_is_none_where_there_is_none(chunk: dict[str, Any]) -> None:
    assert usage_of(chunk) is None
