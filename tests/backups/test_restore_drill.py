"""The restore drill: a backup taken while replies are being written and messages sent, put into another installation.

On SQLite and on PostgreSQL, by the commands that an operator types.
"""

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest

from tests.live import ROOT, LiveServer, bare_environment
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import ScriptedEndpoint, Signal, head, hold, reply, text
from tests.visiting import articles
from tests.with_servers import postgres

pytestmark = pytest.mark.server

KEY = "sk-canary-0123456789"
LOOK = """
import json
from chatapp.models import Chat, Compaction, Endpoint, Message, Run
chats = [list(chat.messages.filter(active=True).order_by("position").values_list("position", "content", "status"))
         for chat in Chat.objects.all()]
print(json.dumps({
    "chats": chats, "live": Run.objects.live().count() + Compaction.objects.live().count(),
    "key": Endpoint.objects.get().reveal_key(), "last": Message.objects.latest("pk").pk,
}))
"""


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

    refused = manage(server.data, "restore", str(archive), **here)
    assert "holds accounts already" in refused.stderr
    refused = manage(server.data, "restore", "--replace", str(archive), **here)
    assert "is in use" in refused.stderr
    server.stop()

    fresh = tmp_path / "fresh"
    put_back = manage(fresh, "restore", str(archive), **there)
    assert put_back.returncode == 0, put_back.stderr
    found = manage(fresh, "shell", "-v0", "-c", LOOK, **there)
    assert found.returncode == 0, found.stderr
    rows = json.loads(found.stdout.splitlines()[-1])
    assert rows["live"] == 0
    assert rows["key"] == KEY
    for chat in rows["chats"]:
        assert [position for position, _, _ in chat] == list(range(len(chat)))
    assert sorted({status for chat in rows["chats"] for _, _, status in chat}) == ["complete", "interrupted"]
    assert {words for chat in rows["chats"] for _, words, status in chat if status == "complete"} >= {"Indeed."}

    again = start_server(data=fresh, **model, **there)
    back = Caller(again.url)
    assert "Retry" in back.get(half)
    back.send(busy, "Still there?")
    back.until_status(busy, "complete")
    assert articles(back.get(half))[-1]["status"] == "interrupted"
    again.stop()

    replaced = manage(fresh, "restore", "--replace", str(archive), **there)
    assert replaced.returncode == 0, replaced.stderr
    assert "Still there?" not in manage(fresh, "shell", "-v0", "-c", LOOK, **there).stdout
    if not databases[0]:
        assert "What was here before is" in replaced.stdout


def test_damaged_archive_changes_nothing(prepared: Path, tmp_path: Path) -> None:
    data = shutil.copytree(prepared, tmp_path / "data")
    archive = tmp_path / "backup.zip"
    assert manage(data, "backup", str(archive)).returncode == 0
    assert "is whole" in manage(data, "restore", "--check", str(archive)).stdout
    whole = archive.read_bytes()
    before = (data / "foldline.sqlite3").read_bytes()

    cut_off, flipped = tmp_path / "cut.zip", tmp_path / "flipped.zip"
    cut_off.write_bytes(whole[: len(whole) // 2])
    middle = len(whole) // 3
    flipped.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    for damaged, words in ((cut_off, "is no backup, or it isn't whole"), (flipped, "archive is damaged")):
        refused = manage(data, "restore", "--replace", str(damaged))
        assert refused.returncode == 1
        assert words in refused.stderr
        assert "Traceback" not in refused.stderr
    assert (data / "foldline.sqlite3").read_bytes() == before


def test_archive_of_a_newer_foldline_or_another_database_is_refused(prepared: Path, tmp_path: Path) -> None:
    data = shutil.copytree(prepared, tmp_path / "data")
    archive = tmp_path / "backup.zip"
    manage(data, "backup", str(archive), "--without-secret")
    with zipfile.ZipFile(archive) as zipped:
        manifest = zipped.read("manifest.json").decode()
        contents = {name: zipped.read(name) for name in zipped.namelist()}
    assert "secret" not in contents
    for changed, words in (
        (manifest.replace("0001_initial", "0999_to_come", 1), "newer Foldline"),
        (manifest.replace('"sqlite"', '"postgresql"'), "Set DATABASE_URL accordingly"),
    ):
        other = tmp_path / "other.zip"
        with zipfile.ZipFile(other, "w") as zipped:
            for name, content in (contents | {"manifest.json": changed.encode()}).items():
                zipped.writestr(name, content)
        refused = manage(data, "restore", str(other))
        assert words in refused.stderr
