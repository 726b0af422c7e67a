"""A whole Foldline for the measurements: the real server in a process of its own, filled, and someone signed in."""

from __future__ import annotations

import http.client
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.sockets import PageSocket
from tests.live import ROOT, LiveServer, bare_environment

ENDED = ("complete", "stopped", "interrupted", "failed")


@dataclass
class Site:
    server: LiveServer
    session: str
    chats: dict[str, str]
    # Of each chat's own person, where there are several.
    sessions: dict[str, str] = field(default_factory=dict)
    _tokens: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    @property
    def pid(self) -> int:
        return self.server.pid

    def get(self, name: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes, float]:
        """A chat's page by one kept connection, and the seconds until its last byte."""
        began = time.perf_counter()
        self.connection.request("GET", self._path(name), headers={"Cookie": f"sessionid={self.session}"} | headers)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, response.status
        return response, body, time.perf_counter() - began

    def open(self, name: str) -> PageSocket:
        """What a browser does with a page: reads it, then listens."""
        response, body, _ = self.get(name)
        found = re.search(r"csrftoken=(\w+)", response.headers["Set-Cookie"] or "")
        if found:
            self._tokens["csrf"] = found[1]
        seen = re.search(rb'data-seen="(\d+)"', body)
        assert seen
        return PageSocket(self.server.port, f"/ws{self._path(name)}", f"sessionid={self.session}", seen=int(seen[1]))

    def post_send(self, name: str, text: str, *, seen: int) -> None:
        """Sends as the page's script does; `end_send` reads the answer."""
        self.post(name, "send/", text=text, idempotency_key=uuid.uuid4().hex, seen=str(seen))

    def post(self, name: str, command: str, **fields: str) -> None:
        token = self._tokens["csrf"]
        headers = {
            "Cookie": f"sessionid={self.session}; csrftoken={token}",
            "X-CSRFToken": token,
            "HX-Request": "true",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self.connection.request("POST", f"{self._path(name)}{command}", urllib.parse.urlencode(fields), headers)

    def end_send(self) -> None:
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, body.decode()

    def rows(self, question: str) -> list[sqlite3.Row]:
        """Read from the database itself: asking the server would be counted."""
        with closing(sqlite3.connect(f"file:{self.server.data / 'foldline.sqlite3'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            return database.execute(question).fetchall()

    def change_row(self, command: str) -> None:
        with closing(sqlite3.connect(self.server.data / "foldline.sqlite3", timeout=10)) as database, database:
            database.execute(command)

    def is_writing(self) -> bool:
        (newest,) = self.rows("SELECT status FROM chatapp_message ORDER BY id DESC LIMIT 1")
        return newest["status"] not in ENDED

    def wait_until_written(self) -> None:
        while self.is_writing():
            time.sleep(0.1)

    def _path(self, name: str) -> str:
        return f"/chats/{self.chats[name]}/"


def filled_site(base_url: str) -> AbstractContextManager[Site]:
    """With the chats that pages and tokens are measured in."""
    return _site({"OPENAI_BASE_URL": base_url}, base_url)


def talking_site(parameters: dict[str, object], *, window: int, base_url: str = "") -> AbstractContextManager[Site]:
    """With one empty chat, "talk", of the demo engine's model or of a scripted one at that address."""
    if base_url:
        return _site({"OPENAI_BASE_URL": base_url}, "talk", json.dumps(parameters), base_url, str(window))
    return _site({"LOCAL_MODEL_CONTEXT": str(window)}, "talk", json.dumps(parameters))


def crowded_site(base_url: str, *, people: int, chats_each: int) -> AbstractContextManager[Site]:
    """With short chats of many people."""
    return _site({"OPENAI_BASE_URL": base_url}, "crowd", base_url, str(people), str(chats_each))


@contextmanager
def _site(environment: dict[str, str], *filling: str) -> Iterator[Site]:
    """On a data folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        server = LiveServer(Path(folder) / "data", environment)
        server.start()
        try:
            told = subprocess.run(
                [sys.executable, "-m", "bench.filling", *filling],
                cwd=ROOT,
                env=bare_environment(FOLDLINE_DATA=str(server.data)),
                stdout=subprocess.PIPE,
                check=True,
            )
            yield Site(server, **json.loads(told.stdout))
        finally:
            server.stop()
