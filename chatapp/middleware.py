"""What stands around every view: a line in the log, the figures and the place of each request, all in one thread."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from django.contrib.auth import SESSION_KEY
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_only_middleware

from chatapp import metrics, sign_ins
from chatapp.database import AWAY

Answer = Callable[[HttpRequest], HttpResponse]

log = structlog.stdlib.get_logger("foldline.requests")

WATCHERS = frozenset({"healthz", "readyz", "metrics"})  # whoever asks every few seconds fills no log
_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


class RequestLog:
    """Gives each request an id, which everything that is logged for it carries; the answer and the run it begins, too.

    The line has the pattern of the address, never the address: no text that is searched for, no token.
    """

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        request_id = _request_id(request)
        with structlog.contextvars.bound_contextvars(request=request_id):
            response = self.get_response(request)
            self._tell(request, response, time.perf_counter() - began)
        response["X-Request-ID"] = request_id
        return response

    def _tell(self, request: HttpRequest, response: HttpResponse, seconds: float) -> None:
        match = request.resolver_match
        route = match.route if match else "none"
        metrics.count_request(method=request.method or "", route=route, status=response.status_code, seconds=seconds)
        if match and match.url_name in WATCHERS:
            return
        log.log(
            40 if response.status_code >= 500 else 20,
            "request",
            method=request.method,
            route=route,
            status=response.status_code,
            milliseconds=round(1000 * seconds),
            **_whose(request),
        )


def _request_id(request: HttpRequest) -> str:
    """The proxy's, where it gives one, so that its log and ours can be read together."""
    given = request.headers.get("X-Request-ID", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _whose(request: HttpRequest) -> dict[str, Any]:
    """The person's id where the session was read anyway, and the chat's."""
    whose: dict[str, Any] = {}
    # Asked itself, a session that could not be read would ask the database once more.
    read = getattr(getattr(request, "session", None), "_session_cache", {})
    if person := read.get(SESSION_KEY):
        whose["person"] = person
    if request.resolver_match and (chat := request.resolver_match.kwargs.get("chat_id")):
        whose["chat"] = str(chat)
    return whose


@sync_only_middleware
def note_sign_ins(get_response: Answer) -> Answer:
    """After the answer is made, so that the one who has just signed in is noted under the new session."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # What was done is done, and the next visit is noted as well; the account may be gone by now.
        with suppress(*AWAY, IntegrityError):
            sign_ins.note(request)
        return response

    return answer


@sync_only_middleware
def stay_in_one_thread(get_response: Answer) -> Answer:
    """Being synchronous only, it makes Django run the whole chain so: otherwise every hook of every middleware is a
    hop to a thread and back (before the first token of a reply, 120 ms instead of 160 ms on a busy machine).
    """
    return get_response
