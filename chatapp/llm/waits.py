"""How long an endpoint asks one to wait, in whichever of its ways it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time

TRY_AGAIN_IN = re.compile(
    r"(?:try again|retry)(?: in| after)?:? (?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d+)?) ?(ms|s\b|sec))?",
    re.IGNORECASE,
)
LONGEST_SECONDS = 10_000_000


def told_wait(headers: Mapping[str, str], message: str) -> float | None:
    """Seconds, from the headers (seconds, milliseconds, a date) or the sentence; None where not told, or absurd."""
    seconds = _told(headers, message)
    return seconds if seconds is not None and seconds < LONGEST_SECONDS else None


def _told(headers: Mapping[str, str], message: str) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after", "").strip()
    seconds = _number(told)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - time())
    except (ValueError, OverflowError):
        return _wait_in(message)


def _number(told: str) -> float | None:
    try:
        value = float(told)
    except ValueError:
        return None
    return value if 0 <= value < LONGEST_SECONDS else None


def _wait_in(message: str) -> float | None:
    found = TRY_AGAIN_IN.search(message)
    if not found or not any(found.groups()[:3]):
        return None
    hours, minutes, rest, unit = found.groups()
    seconds = float(rest or 0) * (0.001 if unit and unit.lower() == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
