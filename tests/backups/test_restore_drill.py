"""The restore drill: a backup taken while replies are being written and messages sent, put into another installation.

On SQLite and on PostgreSQL, by the commands that an operator types.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from django.test import override_settings

from chatapp.sealing import unseal
from tests.live import ROOT, LiveServer, bare_environment
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import ScriptedEndpoint, Signal, head, hold, reply, text
from tests.with_servers import postgres

pytestmark = pytest.mark.server

KEY = "sk-canary-0123456789"
MESSAGES = "SELECT chat_id, position, content, status FROM chatapp_message WHERE active ORDER BY 1, 2"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint.in_thread() as scripted:
        yield scripted


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """DATABASE_URL of the installation, and of the empty one that the backup is put into; none for SQLite."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            yield "", ""
            return
        url = stack.enter_context(postgres())
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE restored")
        yield url, url.replace("/postgres?", "/restored?")


def manage(data: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=bare_environment(FOLDLINE_DATA=str(data), **environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def stored(data: Path, database_url: str, question: str) -> list[tuple[Any, ...]]:
    """The rows as they lie in the database."""
    if database_url:
        with psycopg.connect(database_url) as connection:
            return connection.execute(question).fetchall()
    with closing(sqlite3.connect(data / "foldline.sqlite3")) as database:
        return database.execute(question).fetchall()


@contextmanager
def sending(ada: Caller, chat: str) -> Iterator[None]:
    """Messages one after the other, as fast as they are taken, while the body runs."""
    is_over = Event()

    def send() -> None:
        number = 0
        while not is_over.is_set():
            ada.send(chat, f"Number {number}")
            ada.until_status(chat, "complete")
            number += 1

    thread = Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_backup_under_load_is_a_whole_installation(
    endpoint: ScriptedEndpoint, start_server: Callable[..., LiveServer], databases: tuple[str, str], tmp_path: Path
) -> None:
    here, there = ({"DATABASE_URL": url} if url else {} for url in databases)
    never = Signal()
    endpoint.will([head(), text("The first half. "), hold(never)])
    endpoint.always(reply("Indeed."))
    model = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "scripted"}
    server = start_server(**model, **here, **ADMINISTRATOR)
    ada, bob = Caller(server.url), Caller(server.url)
    half = ada.start("Tell me everything")
    never.wait_reached()
    ada.until(half, lambda page: "The first half." in page)
    busy = bob.start("Number one")
    bob.until_status(busy, "complete")

    archive = tmp_path / "kept" / "backup.zip"
    archive.parent.mkdir()
    with sending(bob, busy):
        made = manage(server.data, "backup", str(archive), **here)
    assert made.returncode == 0, made.stderr
    assert archive.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in archive.parent.iterdir()] == ["backup.zip"]

    refused = manage(server.data, "restore", "--replace", str(archive), **here)
    assert "is in use" in refused.stderr
    server.stop()

    fresh = tmp_path / "fresh"
    put_back = manage(fresh, "restore", str(archive), **there)
    assert put_back.returncode == 0, put_back.stderr
    messages = stored(fresh, databases[1], MESSAGES)
    for _, path in groupby(messages, key=itemgetter(0)):
        positions = [position for _, position, *_ in path]
        assert positions == list(range(len(positions)))
    assert {status for *_, status in messages} == {"complete", "interrupted"}
    assert all(words for *_, words, status in messages if status == "complete")
    assert stored(fresh, databases[1], "SELECT id FROM chatapp_run WHERE status = 'live'") == []
    for table in ("django_session", "chatapp_signin"):  # an ended session is not alive again
        assert stored(fresh, databases[1], f"SELECT session_key FROM {table}") == []
    ((sealed,),) = stored(fresh, databases[1], "SELECT sealed_key FROM chatapp_endpoint")
    with override_settings(SECRET_KEY=(fresh / "secret").read_text()):
        assert unseal(sealed) == KEY

    again = start_server(data=fresh, **model, **there)
    back = Caller(again.url)
    assert "Retry" in back.get(half)
    back.send(busy, "Still there?")
    back.until_status(busy, "complete")
    again.stop()

    replaced = manage(fresh, "restore", "--replace", str(archive), **there)
    assert replaced.returncode == 0, replaced.stderr
    assert stored(fresh, databases[1], MESSAGES) == messages
    assert ("What was here before is" in replaced.stdout) == (not databases[1])
