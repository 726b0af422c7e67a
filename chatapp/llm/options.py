"""The body of a request: which options may be in it, and which an endpoint refuses: dropped once, then remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from chatapp.llm.errors import EndpointRefused

MOST_STOPS = 4  # as OpenAI takes
LARGEST_SEED = 2**63 - 1  # what an endpoint keeps in 64 bits
EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh"})
MOST_TEMPERATURE = 2
MOST_TOP_P = 1
# What a reply can do without, where the endpoint says that it doesn't take it.
DISPENSABLE = ("temperature", "top_p", "stop", "seed", "reasoning_effort")
UNSUPPORTED = re.compile(
    r"unsupported|not support|only the default|deprecated|not permitted|unknown|unrecogni", re.IGNORECASE
)


def _is_number(value: Any, most: float) -> bool:
    return type(value) in (int, float) and 0 <= value <= most


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= LARGEST_SEED


def _is_stop(value: Any) -> bool:
    stops = value if isinstance(value, list) else [value]
    return len(stops) <= MOST_STOPS and all(isinstance(stop, str) and stop for stop in stops)


# All that a chat may say of its replies, and what its values may be. Nothing else of it reaches an endpoint: there are
# options that choose another model, a dearer tier, tools of a router, or many answers.
OFFERED: dict[str, Callable[[Any], bool]] = {
    "temperature": lambda value: _is_number(value, MOST_TEMPERATURE),
    "top_p": lambda value: _is_number(value, MOST_TOP_P),
    "max_tokens": lambda value: _is_whole(value, 1),
    "stop": _is_stop,
    "seed": lambda value: _is_whole(value, -LARGEST_SEED),
    "reasoning_effort": lambda value: isinstance(value, str) and value in EFFORTS,
}


def offered(params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that the settings of a chat offer, with values that they would take."""
    return {name: value for name, value in params.items() if name in OFFERED and OFFERED[name](value)}


def make_body(
    model: str,
    payload: list[dict[str, Any]],
    *,
    params: dict[str, Any] | None,
    max_tokens: int | None,
    temperature: float | None,
    refused: Collection[str],
) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": payload}
    body |= offered(params or {})
    if "stream_options" not in refused:
        body["stream_options"] = {"include_usage": True}
    if temperature is not None:
        body["temperature"] = temperature
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
    if "max_tokens" in refused and "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    return {name: value for name, value in body.items() if name not in DISPENSABLE or name not in refused}


def refused_option(error: EndpointRefused, body: dict[str, Any]) -> str:
    """The option that this endpoint doesn't take and the request can do without; "" where there is none."""
    if "stream_options" in error.options and "stream_options" in body:
        return "stream_options"
    if "max_completion_tokens" in error.options and "max_tokens" in body:
        return "max_tokens"
    if not UNSUPPORTED.search(error.detail):
        return ""
    return next((name for name in DISPENSABLE if name in error.options and name in body), "")
