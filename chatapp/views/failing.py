"""What is answered where a view has failed: a database that is away is a matter of moments, all else is a fault."""

from __future__ import annotations

import errno
import logging
import sys
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.views.defaults import server_error

from chatapp.database import is_away

log = logging.getLogger("foldline.database")

RETRY_SECONDS = 5
_FULL = {errno.ENOSPC, errno.EDQUOT}


def failed(request: HttpRequest) -> HttpResponse:
    """Django's handler for what nobody has caught, while it is handled: 503 or 500. It may ask the database nothing."""
    error = sys.exception()
    if not (is_away(error) or (isinstance(error, OSError) and error.errno in _FULL)):
        return server_error(request)
    log.warning("A request was answered with 503: %s", error)
    response = _unavailable(request)
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 (Django's own mark: no traceback each)
    return response


def _unavailable(request: HttpRequest) -> HttpResponse:
    """A page for a page, with what was typed; a sentence for whatever a script has asked for."""
    if "HX-Request" in request.headers or request.headers.get("Sec-Fetch-Dest", "document") != "document":
        words = gettext("Foldline can’t get at its database at the moment. Try again in a few seconds.")
        return HttpResponse(words, status=503, content_type="text/plain; charset=utf-8")
    context: dict[str, Any] = {"seconds": RETRY_SECONDS}
    if request.method == "POST":
        has_text = "text" in request.POST  # no form with a password or a key has such a field
        others = ((name, value) for name, values in request.POST.lists() for value in values)
        beside = [pair for pair in others if pair[0] not in {"text", "csrfmiddlewaretoken"}] if has_text else []
        context |= {"is_post": True, "has_text": has_text, "beside": beside, "csrf_token": get_token(request)}
        context |= {"text": request.POST.get("text", ""), "has_files": bool(request.FILES)}
    return HttpResponse(render_to_string("503.html", context), status=503)
