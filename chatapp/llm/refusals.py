"""An error answer, or an error within a stream, as the exception that says what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chatapp.llm.errors import (
    EndpointBusy,
    EndpointError,
    EndpointFailed,
    EndpointRefused,
    RequestTooLong,
    StreamBroken,
)
from chatapp.llm.waits import told_wait
from chatapp.llm.wording import one_line, parsed, words_of
from compaction.overflow import read_overflow

RATE_LIMIT = re.compile(
    r"rate.?limit|too many requests|(?:tokens|requests)[- ]per[- ](?:second|minute|hour|day)|\b[TR]P[MD]\b|throttl"
    r"|too many tokens, please wait|overloaded|quota",
    re.IGNORECASE,
)
QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit|out of credits|insufficient (?:balance|credit)",
    re.IGNORECASE,
)
CONTENT_FILTER = re.compile(
    r"content_filter|content management policy|responsibleai|content_policy|DataInspectionFailed", re.IGNORECASE
)
NO_MODEL = re.compile(
    r"model\b.{0,200}?\b(?:not.{0,5}found|not exist|doesn't exist|unknown|not available)|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
LOADING = re.compile(r"load(?:ing)? (?:the )?model|model is (?:being )?load", re.IGNORECASE)
OPTION = re.compile(
    r"\b(stream_options|max_completion_tokens|max_tokens|temperature|top_p|stop|seed|reasoning_effort)\b"
)

STATUS_CODES = {401: "wrong_key", 403: "forbidden", 407: "forbidden"}


def refusal(status: int, headers: Mapping[str, str], body: str, key: str) -> EndpointError:
    """The exception for an answer with an error status (300 and above)."""
    if status < 400:
        where = one_line(headers.get("location", "nowhere"), key)
        return EndpointRefused("bad_request", f"The address redirects to {where}, and redirects are not followed.")
    message = words_of(parsed(body))
    return _judge(
        status, message, body, one_line(message or body or f"HTTP {status}", key), told_wait(headers, message)
    )


def error_in_stream(event: Any, body: str, key: str) -> EndpointError:
    """The exception for an error that came as a chunk of a stream whose status was 200; `body` is the chunk as text."""
    message = words_of(event)
    judged = _judge(_status_in(event), message, body, one_line(message or body, key), told_wait({}, message))
    if judged.code == "bad_request":
        return StreamBroken("error_in_stream", judged.detail)
    return judged


def _status_in(event: Any) -> int:
    """What would have been the HTTP status; 0 where the error tells none."""
    places = (event.get("error"), event) if isinstance(event, dict) else ()
    told = [str(place.get(name)) for place in places if isinstance(place, dict) for name in ("code", "status")]
    return next((int(status) for status in told if re.fullmatch(r"[45]\d\d", status)), 0)


def _judge(status: int, message: str, body: str, detail: str, wait: float | None) -> EndpointError:
    if overflow := read_overflow(status, message, body):
        return RequestTooLong(overflow.window, detail)
    if status == 429 or (status in (0, 400, 402, 403, 413) and RATE_LIMIT.search(body)):
        return EndpointBusy(wait, detail, exhausted=wait is None and (status == 402 or bool(QUOTA.search(body))))
    if status in (503, 529) and wait is not None:
        return EndpointBusy(wait, detail)
    if status >= 500 or status in (408, 409, 425):
        is_loading = status == 503 and bool(LOADING.search(body))
        return EndpointFailed(detail, is_loading=is_loading, is_away=status in (502, 503, 504))
    if status in STATUS_CODES:
        return EndpointRefused(STATUS_CODES[status], detail)
    if status == 404 or (status in (400, 422) and NO_MODEL.search(message)):
        return EndpointRefused("no_such_model", detail)
    if CONTENT_FILTER.search(body):
        return EndpointRefused("content_filter", detail)
    return EndpointRefused("bad_request", detail, options=frozenset(OPTION.findall(body)))
