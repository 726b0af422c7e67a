"""Which language is spoken where no middleware says so."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from django.http import HttpRequest, parse_cookie
from django.utils.translation import get_language_from_request, get_supported_language_variant


def language_of(scope: dict[str, Any]) -> str:
    """What the page of a socket says (`?language=`): it may be older than the choice. Else as of any request."""
    said = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("language", [""])[0]
    try:
        return get_supported_language_variant(said)
    except LookupError:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        request = HttpRequest()
        request.COOKIES = parse_cookie(headers.get(b"cookie", ""))
        request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", "")
        return get_language_from_request(request)
