"""An endpoint's own words made fit to be shown and logged: one line, at most 300 characters, without the key."""

from __future__ import annotations

import json
import re
from typing import Any

LONGEST_DETAIL = 300
LONGEST_READ = 8_000  # unclosed tags cost the square of it
REDACTED = "[key]"

# Endpoints echo the key back, whole or half masked ("Incorrect API key provided: sk-ab***yz").
LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key|nvapi|csk|tgp)[-_][\w*.…-]{6,}|(?<=Bearer )[^\s'\"]+", re.IGNORECASE
)
MARKUP = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
NOT_PRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def without_key(text: str, key: str) -> str:
    """Each part of the key that could open a door is taken out; a short one only as a whole word."""
    for part in sorted(key.split(), key=len, reverse=True):
        pattern = re.escape(part) if len(part) >= 8 else rf"(?<!\w){re.escape(part)}(?!\w)"
        text = re.sub(pattern, REDACTED, text)
    return LIKE_A_KEY.sub(REDACTED, text)


def one_line(text: str, key: str) -> str:
    """Redacted before it is cut, so that no half of a key is left at the end."""
    text = text[:LONGEST_READ]
    if text.lstrip()[:1] == "<":
        text = MARKUP.sub(" ", text)
    text = NOT_PRINTABLE.sub(" ", without_key(text, key)).strip()
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"


def words_of(answer: Any, *, depth: int = 5) -> str:
    """The sentence inside an error answer, in whichever of the usual places it stands; "" where there is none."""
    if isinstance(answer, str):
        return answer
    if depth and isinstance(answer, list):  # FastAPI's validation errors, Gemini's list of one
        return "; ".join(filter(None, (words_of(each, depth=depth - 1) for each in answer[:3])))
    if not depth or not isinstance(answer, dict):
        return ""
    for place in ("error", "errors", "message", "msg", "detail", "details", "error_description", "reason"):
        if words := words_of(answer.get(place), depth=depth - 1):
            return words
    return ""


def parsed(body: str) -> Any:
    """The body as JSON, or as it is."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
