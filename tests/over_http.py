"""A person without a browser, over real HTTP: signs in, posts forms, reads pages of a server in another process."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.cookiejar import CookieJar

from tests.people import PASSWORD
from tests.sockets import RawSocket, opened
from tests.visiting import articles

ADMINISTRATOR = {"DJANGO_SUPERUSER_USERNAME": "ada", "DJANGO_SUPERUSER_PASSWORD": PASSWORD}


class Caller:
    def __init__(self, url: str, name: str = "ada") -> None:
        self.url = url
        self.jar = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.get("/accounts/login/")
        _, landed = self.post("/accounts/login/", login=name, password=PASSWORD)
        assert landed == "/", landed

    def get(self, path: str) -> str:
        with self.opener.open(self.url + path, timeout=20) as answer:
            text: str = answer.read().decode()
            return text

    def post(self, path: str, **fields: str) -> tuple[str, str]:
        """The page that one lands on, and its path."""
        token = next(cookie.value for cookie in self.jar if cookie.name == "csrftoken")
        body = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": token}).encode()
        request = urllib.request.Request(self.url + path, body, {"Origin": self.url})
        with self.opener.open(request, timeout=20) as answer:
            return answer.read().decode(), urllib.parse.urlsplit(answer.url).path

    def socket(self, chat: str, *, seen: int = 0) -> AbstractContextManager[RawSocket]:
        """The page's socket, on this caller's server."""
        cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)
        return opened(urllib.parse.urlsplit(self.url).port or 80, f"/ws{chat}?seen={seen}", cookie=cookie)

    def start(self, text: str) -> str:
        """The path of a new chat's page."""
        _, path = self.post("/chats/", text=text, idempotency_key=uuid.uuid4().hex)
        return path

    def send(self, chat: str, text: str) -> None:
        self.post(f"{chat}send/", text=text, idempotency_key=uuid.uuid4().hex)

    def until(self, chat: str, is_so: Callable[[str], object], *, seconds: float = 20) -> str:
        """The chat's page once `is_so` of it; what another process does can only be asked for again."""
        end = time.monotonic() + seconds
        while not is_so(page := self.get(chat)):
            assert time.monotonic() < end, re.sub(r"<[^>]*>\s*", " ", page)[-2000:]
            time.sleep(0.05)
        return page

    def until_status(self, chat: str, status: str, *, seconds: float = 20) -> str:
        """… once its last message has that status."""
        return self.until(chat, lambda page: articles(page)[-1]["status"] == status, seconds=seconds)
