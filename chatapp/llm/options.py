"""The body of a request, and which of its options an endpoint refuses: dropped once, then remembered."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from chatapp.llm.errors import EndpointRefused

# What decides how the answer is read is ours to say.
OURS = frozenset({"model", "messages", "stream", "stream_options", "n"})
# What a reply can do without, where the endpoint says that it doesn't take it.
DISPENSABLE = ("temperature", "top_p", "stop", "seed", "reasoning_effort")
UNSUPPORTED = re.compile(
    r"unsupported|not support|only the default|deprecated|not permitted|unknown|unrecogni", re.IGNORECASE
)


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
    body |= {name: value for name, value in (params or {}).items() if name not in OURS}
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
