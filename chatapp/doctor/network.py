"""How Foldline is reached: settings that belong together, the address people type, and the proxy in between."""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from typing import Any

from django.conf import settings
from django.utils import timezone

from chatapp.addresses import EVERYWHERE, bracketed
from chatapp.checks import check_environment
from chatapp.doctor.findings import Finding, broken, fine, look
from chatapp.hello import FORGED_ADDRESS, Greeting, say_hello
from chatapp.logs import words_of

PATIENCE_SECONDS = 10
MOST_CLOCK_SECONDS = 30
STRANGE_ORIGIN = "https://elsewhere.invalid"
PROXY_PAGES = {502, 503, 504}


def examine_settings() -> Iterator[Finding]:
    for complaint in check_environment(None):
        yield broken("settings", complaint.msg, complaint.hint or "")
    if settings.DEBUG:
        yield broken("settings", "DEBUG shows the inside of errors to everybody.", "Leave DEBUG out.")
    if not settings.PUBLIC_URL:
        is_open = settings.HOST in EVERYWHERE
        words = "There is no PUBLIC_URL, so cookies and passwords travel as HTTP brings them."
        yield (
            look("settings", words, "Behind a proxy with HTTPS set PUBLIC_URL.")
            if is_open
            else fine("settings", f"Foldline is for this machine alone ({settings.HOST}:{settings.PORT}).")
        )
    elif settings.IS_HTTPS:
        yield fine("settings", f"Cookies are for HTTPS alone, and sockets and forms from {settings.PUBLIC_URL}.")
    else:
        yield look("settings", f"{settings.PUBLIC_URL} is not HTTPS: passwords can be read on the way.", "Use https.")
    if "*" in settings.ALLOWED_HOSTS:
        yield broken("settings", "ALLOWED_HOSTS answers to every name.", "Name the hosts.")


def examine_server() -> Iterator[Finding]:
    """By the address that people type, as a browser would; this process's own without one."""
    url = (
        settings.PUBLIC_URL
        or f"http://{bracketed('127.0.0.1' if settings.HOST in EVERYWHERE else settings.HOST)}:{settings.PORT}"
    )
    try:
        status, headers = _ask(f"{url}/accounts/login/")
    except ssl.SSLError as error:
        yield broken(
            "server", f"The certificate of {url} isn't good ({words_of(error)}).", "Renew it, or name the right host."
        )
        return
    except (OSError, http.client.HTTPException) as error:
        level = broken if settings.PUBLIC_URL else look
        yield level(
            "server",
            f"Nothing answers at {url} ({words_of(error)}).",
            "Start Foldline, and look at PUBLIC_URL and the proxy.",
        )
        return
    yield _page(url, status, headers)
    yield from _clock(headers)
    yield from _socket(url)


def _page(url: str, status: int, headers: Any) -> Finding:
    if status in PROXY_PAGES:
        return broken(
            "server", f"The proxy at {url} finds no process behind it ({status}).", "Start Foldline; see its log."
        )
    if status in {301, 302, 307, 308} and headers.get("Location", "").startswith(url):
        return broken(
            "server",
            f"{url} leads to itself.",
            "The proxy has to set X-Forwarded-Proto, and TRUSTED_PROXIES to name its address.",
        )
    if status == 400:
        return broken(
            "server",
            f"Foldline doesn't answer to the host of {url}.",
            "The proxy has to pass on Host; see ALLOWED_HOSTS.",
        )
    if status != 200:
        return look("server", f"{url}/accounts/login/ answers {status}.", "Is that Foldline?")
    return fine("server", f"{url} answers.")


def _clock(headers: Any) -> Iterator[Finding]:
    try:
        off = abs((parsedate_to_datetime(headers.get("Date", "")) - timezone.now()).total_seconds())
    except (ValueError, TypeError):  # it tells no time
        return
    if off > MOST_CLOCK_SECONDS:
        yield look("clock", f"The server's clock is {off:.0f} s from this one.", "Set both by NTP.")
    else:
        yield fine("clock", "The server's clock is this one's.")


def _socket(url: str) -> Iterator[Finding]:
    try:
        own, strange = say_hello(url, origin=url), say_hello(url, origin=STRANGE_ORIGIN)
    except (OSError, ValueError) as error:
        yield broken("socket", f"It broke off ({words_of(error)}).", "The proxy has to pass WebSockets on at /ws/.")
        return
    yield _opened(url, own)
    if strange.status == 101:
        yield broken("socket", "A page of another site can open one.", "The proxy must leave Origin as it is.")
    yield from _proxy(own)


def _proxy(own: Greeting) -> Iterator[Finding]:
    """Whether the server believes it, and whether it says the truth."""
    if own.not_believed not in {"", FORGED_ADDRESS}:  # ours as we wrote it: there is no proxy
        yield broken(
            "proxy",
            f"What {own.client} says of whom it speaks for isn't believed: everybody has that one address.",
            f"If that is your proxy, name {own.client} in TRUSTED_PROXIES of the web processes.",
        )
    elif own.client == FORGED_ADDRESS:
        yield broken(
            "proxy",
            "Whoever asks can say which address they come from.",
            "The proxy has to set X-Forwarded-For itself, over what a client sends; only it may reach Foldline's port.",
        )
    elif own.status == 101 and settings.PUBLIC_URL:
        yield fine("proxy", f"It says itself who asks (this machine is {own.client}).")


def _opened(url: str, greeting: Greeting) -> Finding:
    if greeting.status == 101:
        return fine("socket", f"One opens through {url}.")
    if greeting.status == 403:
        return broken(
            "socket",
            "Foldline refuses it.",
            "Server and doctor need the same PUBLIC_URL and SECRET_KEY; the proxy has to pass on Host and Origin.",
        )
    return broken(
        "socket",
        f"None opens ({greeting.status}): replies come late, by asking.",
        "The proxy has to pass on Upgrade and Connection at /ws/ (see deploy/).",
    )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _ask(url: str) -> tuple[int, Any]:
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(url, timeout=PATIENCE_SECONDS) as answer:
            assert isinstance(answer, HTTPResponse)
            return answer.status, answer.headers
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers
    except urllib.error.URLError as error:
        raise error.reason if isinstance(error.reason, OSError) else error from None
