"""The recorded usage of one call, from the places where endpoints put it."""

from __future__ import annotations

from typing import Any

from compaction.transcript import Usage


def usage_of(chunk: dict[str, Any]) -> Usage | None:
    """None where the chunk tells none, or only zeros: zero prompt tokens is a number that nobody counted."""
    told = chunk.get("usage") or _inside(chunk, "x_groq").get("usage") or _inside_first_choice(chunk)
    return read_usage(told) if isinstance(told, dict) else None


def read_usage(told: dict[str, Any]) -> Usage | None:
    prompt, completion = _count(told, "prompt_tokens"), _count(told, "completion_tokens")
    if not prompt and not completion:
        return None
    cached = (
        _count(_inside(told, "prompt_tokens_details"), "cached_tokens")
        or _count(told, "prompt_cache_hit_tokens")  # DeepSeek
        or _count(told, "cached_tokens")  # Moonshot
        or _count(told, "cache_read_input_tokens")
    )
    reasoning = _count(_inside(told, "completion_tokens_details"), "reasoning_tokens") or _count(
        told, "reasoning_tokens"
    )
    total = _count(told, "total_tokens")
    # Cached tokens are part of the prompt and reasoning tokens of the completion; some endpoints count them beside it
    # (Anthropic's way, xAI), which the total gives away.
    if cached > prompt or (cached and total == prompt + cached + completion):
        prompt += cached
    if reasoning > completion or (reasoning and total == prompt + completion + reasoning):
        completion += reasoning
    return Usage(prompt, completion, cached, reasoning, total)


def _inside(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _inside_first_choice(chunk: dict[str, Any]) -> Any:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("usage") if isinstance(first, dict) else None


def _count(told: dict[str, Any], name: str) -> int:
    value = told.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1_000_000_000:
        return 0
    return int(value)
