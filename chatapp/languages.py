"""Which language a listener's page is in, where no middleware says so."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from django.http import HttpRequest
from django.utils.translation import get_language_from_request, get_supported_language_variant


def language_of(scope: dict[str, Any]) -> str:
    """Of a socket: what its page says (`?language=`), which may be older than the choice; else as for any request."""
    said = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("language", [""])[0]
    try:
        return get_supported_language_variant(said)
    except LookupError:
        request = HttpRequest()
        request.COOKIES = scope.get("cookies", {})
        headers = dict(scope.get("headers", []))
        request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
        return get_language_from_request(request)
