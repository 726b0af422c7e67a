"""An error answer, or an error within a stream, as the exception that says what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from chatapp.llm.errors import EndpointBusy, EndpointError, EndpointFailed, EndpointRefused, RequestTooLong, StreamBroken
from chatapp.llm.wording import one_line, parsed, words_of
from compaction.overflow import read_overflow

RATE_LIMIT = re.compile(
    r"rate.?limit|too many requests|(?:tokens|requests)[- ]per[- ](?:second|minute|hour|day)|\b[TR]P[MD]\b|throttl"
    r"|too many tokens, please wait|overloaded|quota",
    re.IGNORECASE,
)
QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|out of credits|insufficient (?:balance|credits)", re.I)
CONTENT_FILTER = re.compile(r"content_filter|content management policy|responsibleai|content_policy|DataInspectionFailed", re.I)
NO_MODEL = re.compile(r"model\b.{0,200}?\b(?:not.{0,5}found|not exist|doesn't exist|unknown|not available)|model_not_found", re.I | re.S)
LOADING = re.compile(r"load(?:ing)? (?:the )?model|model is (?:being )?load", re.IGNORECASE)
TRY_AGAIN_IN = re.compile(r"(?:try again|retry)(?: in| after)?:? (?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+) ?(ms|s\b|sec))?", re.I)
OPTION = re.compile(r"\b(stream_options|max_completion_tokens|max_tokens|temperature)\b")

STATUS_CODES = {401: "wrong_key", 403: "forbidden", 407: "forbidden"}


def refusal(status: int, headers: Mapping[str, str], body: str, key: str) -> EndpointError:
    """The exception for an answer with an error status (300 and above)."""
    if status < 400:
        where = one_line(headers.get("location", "nowhere"), key)
        return EndpointRefused("bad_request", f"The address redirects to {where}, and redirects are not followed.")
    message = words_of(parsed(body))
    return _judge(status, message, body, one_line(message or body or f"HTTP {status}", key), retry_after(headers, message))


def error_in_stream(event: Any, key: str) -> EndpointError:
    """The exception for an error that came as a chunk of a stream whose status was 200."""
    message = words_of(event)
    body = json.dumps(event, ensure_ascii=False) if isinstance(event, (dict, list)) else str(event)
    error = event.get("error") if isinstance(event, dict) else None
    told = next((place.get(name) for place in (error, event) if isinstance(place, dict) for name in ("code", "status")), None)
    status = int(told) if isinstance(told, (int, str)) and re.fullmatch(r"[45]\d\d", str(told)) else 0
    judged = _judge(status, message, body, one_line(message or body, key), retry_after({}, message))
    if status in (0, 400, 422) and type(judged) in (EndpointRefused, EndpointFailed) and judged.code != "content_filter":
        return StreamBroken("error_in_stream", judged.detail)
    return judged


def _judge(status: int, message: str, body: str, detail: str, wait: float | None) -> EndpointError:
    if overflow := read_overflow(status, message, body):
        return RequestTooLong(overflow.window, detail)
    if status == 429 or (status in (0, 400, 402, 403, 413) and RATE_LIMIT.search(body)):
        return EndpointBusy(wait, detail, exhausted=status == 402 or bool(QUOTA.search(body)))
    if status >= 500 or status in (408, 409, 425):
        return EndpointFailed(detail, retry_after=wait, is_loading=status == 503 and bool(LOADING.search(body)))
    if status in STATUS_CODES:
        return EndpointRefused(STATUS_CODES[status], detail)
    if status == 404 or (status in (400, 422) and NO_MODEL.search(message)):
        return EndpointRefused("no_such_model", detail)
    if CONTENT_FILTER.search(body):
        return EndpointRefused("content_filter", detail)
    return EndpointRefused("bad_request", detail, options=frozenset(OPTION.findall(body)))


def retry_after(headers: Mapping[str, str], message: str = "") -> float | None:
    """Seconds to wait, from the headers (seconds, milliseconds, a date) or the sentence; None where not told."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        told = headers.get(name, "").strip()
        try:
            if 0 <= (seconds := float(told) * unit) < 10**7:
                return seconds
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(told).timestamp() - time())
        except ValueError:
            continue
    found = TRY_AGAIN_IN.search(message)
    if not found or not any(found.groups()[:3]):
        return None
    hours, minutes, rest, unit_name = found.groups()
    try:
        seconds = float(rest or 0) * (0.001 if unit_name == "ms" else 1)
    except ValueError:
        return None
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
