"""Whether an endpoint's refusal means that the request is too long, and which window it tells (rules A1, B3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Codes of HTTP that never speak of length: key, rights, address, rate.
OTHER_STATUSES = frozenset({401, 403, 404, 429})

RATE_LIMIT = re.compile(
    r"rate.?limit|tokens per (?:minute|hour|day)|\b[tr]pm\b|too many requests|(?:please|then) (?:wait|try again in)"
    r"|throttl|quota",
    re.IGNORECASE,
)
FALSE_FRIEND = re.compile(r"string_above_max_length|string too long", re.IGNORECASE)
# A refusal about another field may quote anything, even our own words.
OTHER_FIELD = re.compile(
    r'"param"\s*:\s*"(?!messages|input|prompt|contents?\b|max_(?:completion_|output_|new_)?tokens)[^"]+"', re.IGNORECASE
)
SIGNS = re.compile(
    r"context_length_exceeded|tokens_limit_reached|exceed_context_size|ContextWindowExceeded|model_max_prompt_tokens"
    r"|maximum (?:context|prompt) length (?:is|of) \d|\d+ maximum context length|(?:max|maximum) context length by \d"
    r"|exceeds? (?:the |its |available |model'?s? |max(?:imum)? )*(?:context|token limit)"
    r"|exceeded (?:model token limit|max context)|context size has been exceeded|exceeds? the maximum number of tokens"
    r"|input tokens exceed|max_tokens must be at least 1, got -\d|greater than the context length"
    r"|context the overflows|context (?:length|window|size) of only \d|prompt (?:is )?too long"
    r"|input (?:is|was) too long|`?inputs`? tokens \+ `?max_new_tokens`? must be"
    r"|exceed(?:s|ed)? (?:the )?context (?:limit|window|length)|too large for \S+ model\W+max size: \d+ tokens"
    r"|(?:reduce|shorten) the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
NUMBER = r"(\d[\d,_]*)"
WINDOWS = tuple(
    re.compile(pattern.replace("NUMBER", NUMBER), re.IGNORECASE)
    for pattern in (
        r'"n_ctx"\s*:\s*NUMBER',
        r"(?:context|prompt) (?:length|window|size) (?:is|of)(?: only)? NUMBER",
        r"context size \(NUMBER",
        r"configured limit of NUMBER",
        r"max size: NUMBER tokens",
        r"while limit is NUMBER",
        r"model with NUMBER maximum context",
        r"must be <= NUMBER",
        r"> NUMBER maximum",
        r"context limit: \d+ \+ \d+ > NUMBER",
        r"number of tokens allowed \(NUMBER",
        r"token limit(?: is|:| of)? NUMBER",
    )
)


@dataclass(frozen=True, slots=True)
class Overflow:
    """`window` in tokens, 0 when the endpoint doesn't tell."""

    window: int


def read_overflow(status: int, message: str, body: str) -> Overflow | None:
    """None for every other refusal. `body` is the whole answer as text.

    >>> read_overflow(400, "prompt is too long: 210000 tokens > 200000 maximum", "")
    Overflow(window=200000)
    """
    # Servers written in Go escape the angle bracket in JSON.
    words = f"{message}\n{body}".replace("\\u003e", ">").replace("\\u003c", "<")
    if status in OTHER_STATUSES or RATE_LIMIT.search(words):
        return None
    if FALSE_FRIEND.search(words) or OTHER_FIELD.search(words) or not SIGNS.search(words):
        return None
    return Overflow(_window(words))


def _window(words: str) -> int:
    for pattern in WINDOWS:
        if found := pattern.search(words):
            return int(re.sub(r"\D", "", found[1]))
    return 0
