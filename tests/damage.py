"""What tests that do damage share: the record read past the application, pages that stay open, and persistent callers.

The record keeps an audit of its own: triggers note every change that may never be, at the moment it is made, whoever
makes it. So "no ended state is opened again" and "a late writer changes nothing" are facts, not samples.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from tests.chatapp.open_page import OpenPage
from tests.folding import is_summary_request
from tests.foreign_exports import as_json, chatgpt
from tests.over_http import Caller
from tests.scripted import Script, reply_tokens
from tests.visiting import articles

T = TypeVar("T")

SUMMARY = "They spoke about bread at length; the dough wants warmth, time and patience, in winter above all."
LONG = "Bread wants time, warmth and patience, and then some more of each. " * 40
PAST = "2001-01-01 00:00:00+00:00"

_ENDED_REPLY = "OLD.status NOT IN ('queued', 'streaming')"
# By table: what no update of a row may be.
NEVER = {
    "run": "OLD.status <> 'live' AND (NEW.status <> OLD.status OR NEW.attempt <> OLD.attempt)",
    "compaction": (
        "OLD.status <> 'running' AND NEW.status <> OLD.status"
        " AND NOT (OLD.status = 'applied' AND NEW.status = 'undone')"
    ),
    "message": (
        f"{_ENDED_REPLY} AND (NEW.status <> OLD.status OR NEW.content <> OLD.content OR NEW.reasoning <> OLD.reasoning"
        " OR COALESCE(NEW.prompt_tokens, -1) <> COALESCE(OLD.prompt_tokens, -1))"
    ),
    "import": "OLD.status IN ('done', 'failed', 'cancelled') AND NEW.status <> OLD.status",
}


class Record:
    """`database`: a PostgreSQL address, or the path of a SQLite file."""

    def __init__(self, database: str | Path) -> None:
        self.database = database
        self.do("CREATE TABLE audit (name text, id text, former text, later text)")
        for name, never in NEVER.items():
            self._watch(name, never)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.do(query)

    def value(self, query: str) -> Any:
        return self.do(query)[0][0]

    def do(self, statement: str) -> list[tuple[Any, ...]]:
        if isinstance(self.database, str):
            with psycopg.connect(self.database, autocommit=True) as connection:
                cursor = connection.execute(statement)  # type: ignore[call-overload]
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(self.database, timeout=30, isolation_level=None)) as database:
            return database.execute(statement).fetchall()

    def _watch(self, name: str, never: str) -> None:
        note = f"INSERT INTO audit VALUES ('{name}', CAST(OLD.id AS text), OLD.status, NEW.status)"
        after = f"CREATE TRIGGER never_{name} AFTER UPDATE ON chatapp_{name} FOR EACH ROW WHEN ({never})"
        if isinstance(self.database, str):
            body = f"BEGIN {note}; RETURN NULL; END"
            self.do(f"CREATE FUNCTION never_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
            self.do(f"{after} EXECUTE FUNCTION never_{name}()")
        else:
            self.do(f"{after} BEGIN {note}; END")

    def check(self) -> None:
        """What holds at every moment."""
        assert self.rows("SELECT * FROM audit") == []
        for table, live in (("run", "live"), ("compaction", "running")):
            twice = f"SELECT chat_id FROM chatapp_{table} WHERE status = '{live}' GROUP BY chat_id HAVING COUNT(*) > 1"
            assert self.rows(twice) == []
        path = self.rows(
            "SELECT chat_id, position, id, parent_id FROM chatapp_message WHERE active ORDER BY chat_id, position"
        )
        before: tuple[Any, ...] = (None,)
        for row in path:
            follows = row[0] == before[0]
            assert (row[1], row[3]) == ((before[1] + 1, before[2]) if follows else (0, None)), (before, row)
            before = row

    def check_each_once(self, texts: list[str]) -> None:
        """Of all that was accepted, nothing is missing and nothing is there twice."""
        said = [
            *self.rows("SELECT content FROM chatapp_message WHERE role = 'user'"),
            *self.rows("SELECT text FROM chatapp_queuedmessage"),
        ]
        found = Counter(text for (text,) in said)
        assert {text: found[text] for text in texts} == dict.fromkeys(texts, 1)

    def busy(self) -> int:
        """How much is still going on."""
        return int(
            self.value(
                "SELECT (SELECT COUNT(*) FROM chatapp_run WHERE status = 'live')"
                " + (SELECT COUNT(*) FROM chatapp_compaction WHERE status = 'running')"
                " + (SELECT COUNT(*) FROM chatapp_message WHERE status IN ('queued', 'streaming'))"
                " + (SELECT COUNT(*) FROM chatapp_import WHERE status IN ('waiting', 'running'))"
            )
        )


def until(is_so: Callable[[], T], *, seconds: float = 60, why: Callable[[], object] = lambda: "") -> T:
    """What `is_so` says once that is true."""
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, why()
        time.sleep(0.05)
    return found


def persist(do: Callable[[], T], *, seconds: float = 90) -> T:
    """As a person does it: again where Foldline can't be reached or says 503, whatever else goes wrong is a fault."""
    end = time.monotonic() + seconds
    while True:
        try:
            return do()
        except urllib.error.HTTPError as refused:
            if refused.code != 503 or time.monotonic() > end:
                raise AssertionError(f"{refused.code}: {refused.read().decode()[:2000]}") from refused
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.1)


def refusal_of(do: Callable[[], object]) -> urllib.error.HTTPError | None:
    try:
        do()
    except urllib.error.HTTPError as refused:
        return refused
    return None


def upload(ada: Caller, count: int, *, name: str) -> None:
    """A file of so many small chats, announced and sent in one part."""
    data = as_json([chatgpt(name=f"{name}-{number}", title=f"{name} {number}") for number in range(count)])
    told, _ = ada.post("/import/", name=f"{name}.json", size=str(len(data)))
    token = next(cookie.value for cookie in ada.jar if cookie.name == "csrftoken")
    headers = {"Origin": ada.url, "X-CSRFToken": token, "Content-Type": "application/octet-stream"}
    ada.opener.open(urllib.request.Request(f"{ada.url}{json.loads(told)['part']}?at=0", data, headers), timeout=60)


def answering(*, words: int = 12, delay: float = 0.05) -> Callable[[dict[str, Any]], Script]:
    """A slow summary where one is asked for, a slow reply else."""

    def answer(payload: dict[str, Any]) -> Script:
        pieces = SUMMARY.split(" ") if is_summary_request(payload) else [f"word{number}" for number in range(words)]
        return reply_tokens([f"{piece} " for piece in pieces], delay=delay)

    return answer


class Watcher(threading.Thread):
    """A page of a chat that stays open: it comes back when its socket is closed, and keeps what it is shown."""

    def __init__(self, ada: Caller, chat: str) -> None:
        super().__init__(daemon=True)
        self.ada, self.chat = ada, chat
        self.page = OpenPage(None, None)  # type: ignore[arg-type]  # it reads no rows
        self.opened = 0
        self.may_end = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.may_end.is_set():
            try:
                self._listen()
            except (OSError, ValueError, AssertionError, urllib.error.URLError):
                self.may_end.wait(0.3)

    def _listen(self) -> None:
        with self.ada.socket(self.chat, seen=self.page.seen) as socket:
            self.opened += 1
            while not self.may_end.is_set():
                html = socket.next()
                if "data-changes" in html:
                    self._take(html)

    def _take(self, html: str) -> None:
        facts = dict(part.split("=") for part in html[: html.index(">")].replace('"', "").split() if "=" in part)
        if int(facts["data-since"]) <= self.page.seen < int(facts["data-revision"]):
            self.page.take(html)
            self.page.seen = int(facts["data-revision"])

    def check_shows_the_rows(self) -> None:
        """What it was shown by and by is what a page shows that is opened now."""
        fresh = OpenPage(None, None)  # type: ignore[arg-type]
        fresh.take(persist(lambda: self.ada.get(f"{self.chat}changes/?seen=0")))
        rows = _seen_in(fresh)
        until(lambda: _seen_in(self.page) == rows, why=lambda: (rows, _seen_in(self.page), self.opened))


def _seen_in(page: OpenPage) -> list[tuple[list[dict[str, str]], str]]:
    """Of each message its id, its status and all words."""
    return [(articles(html), " ".join(re.sub(r"<[^>]*>", " ", html).split())) for html in page.shown()]
