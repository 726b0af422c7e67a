"""One process on SQLite, killed at random moments, on a full disk, and four of them on one file."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.damage import LONG, Record, Watcher, answering, persist, refusal_of, until, upload
from tests.live import LiveServer
from tests.nemesis import Nemesis
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import ScriptedEndpoint, Signal, done, finish, head, hold, text
from tests.with_servers import valkey

pytestmark = pytest.mark.server

KILLS = int(os.environ.get("FOLDLINE_KILLS") or 8)
STEPS = int(os.environ.get("FOLDLINE_STEPS") or 25)
SEEDS = int(os.environ.get("FOLDLINE_SEEDS") or 1)


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint.in_thread() as scripted:
        yield scripted


@pytest.fixture
def environment(endpoint: ScriptedEndpoint) -> dict[str, str]:
    return {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted", **ADMINISTRATOR}


def record_of(server: LiveServer) -> Record:
    return Record(server.data / "foldline.sqlite3")


def test_killed_at_random_moments_nothing_is_lost_doubled_or_stuck(
    endpoint: ScriptedEndpoint, environment: dict[str, str], start_server: Callable[..., LiveServer]
) -> None:
    """While replies, summaries, what waits and a file of chats are on their way."""
    moments = random.Random(5)
    endpoint.always(answering(words=50))
    server = start_server(**environment)
    record, ada = record_of(server), Caller(server.url)
    said = [f"chat {number}: {LONG}" for number in range(3)]
    chats = [ada.start(words) for words in said]
    pages = [Watcher(ada, chat) for chat in chats]
    for kill in range(KILLS):
        if kill % 4 == 0:
            persist(lambda kill=kill: upload(ada, 40, name=f"file{kill}"))
        for number, chat in enumerate(chats):
            for again in range(2):
                said.append(f"{kill}.{number}.{again}: {LONG}")
                sent = {"text": said[-1], "idempotency_key": said[-1][:60]}
                persist(lambda chat=chat, sent=sent: ada.post(f"{chat}send/", **sent))
        refusal_of(lambda kill=kill: ada.post(f"{chats[kill % 3]}stop/"))
        refusal_of(lambda kill=kill: ada.post(f"{chats[kill % 3]}compact/"))
        time.sleep(moments.uniform(0, 1.5))

        server.stop(by=signal.SIGKILL)
        record.check()
        server.start(seconds=300)

    until(lambda: not record.busy(), seconds=300)
    record.check()
    record.check_each_once(said)
    imported = record.rows("SELECT COUNT(*), COUNT(DISTINCT title) FROM chatapp_chat WHERE title LIKE 'file%'")
    assert imported == [(40 * -(-KILLS // 4),) * 2]
    for page in pages:
        page.check_shows_the_rows()
        page.may_end.set()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_is_done_and_broken_the_record_is_right(
    seed: int, endpoint: ScriptedEndpoint, environment: dict[str, str], start_server: Callable[..., LiveServer]
) -> None:
    endpoint.always(answering())
    server = start_server(**environment)

    Nemesis(seed, record_of(server), [(server, Caller(server.url))]).play(STEPS, breaks=max(2, STEPS // 10))


@dataclass
class Disk:
    """One that can be full: a small file system of its own, or else a limit to how large the process's files may be."""

    folder: Path
    is_own: bool

    def fill(self, server: LiveServer) -> None:
        if self.is_own:
            with (self.folder / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
                while True:
                    ballast.write(bytes(4096))
        else:
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    def empty(self, server: LiveServer) -> None:
        if self.is_own:
            (self.folder / "ballast").unlink()
        else:
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with _mounted(tmp_path / "small") as is_own:
        if not is_own:
            print("NO FILE SYSTEM CAN BE MOUNTED HERE: a full disk is played by a limit to the size of files.")
        yield Disk(tmp_path / "small", is_own)


@contextmanager
def _mounted(folder: Path) -> Iterator[bool]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    is_mounted = bool(shutil.which("mount")) and not subprocess.run(mount, capture_output=True, check=False).returncode
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk_is_said_and_costs_nothing(
    disk: Disk,
    endpoint: ScriptedEndpoint,
    environment: dict[str, str],
    prepared: Path,
    start_server: Callable[..., LiveServer],
) -> None:
    gate = Signal()
    endpoint.will([head(), text("Half, "), hold(gate), text("and whole."), finish(), done()])
    server = start_server(data=shutil.copytree(prepared, disk.folder / "data"), **environment)
    record, ada = record_of(server), Caller(server.url)
    chat = ada.start("Before")
    gate.wait_reached()

    disk.fill(server)
    gate.set()
    sent = {"text": "Meanwhile " + LONG, "idempotency_key": "meanwhile"}
    refused = until(lambda: refusal_of(lambda: ada.post(f"{chat}send/", **sent)))
    assert refused.code == 503
    assert "Meanwhile Bread" in re.sub(r".*<textarea[^>]*>\s*", "", refused.read().decode(), flags=re.DOTALL)
    assert "Before" in ada.get(chat)  # what is there can be read
    disk.empty(server)

    assert "Half, and whole." in ada.until_status(chat, "complete", seconds=60)
    persist(lambda: ada.post(f"{chat}send/", **sent))
    persist(lambda: ada.post(f"{chat}send/", **sent))
    until(lambda: not record.busy())
    record.check()
    record.check_each_once(["Before", sent["text"]])


def test_four_processes_on_one_file_store_each_message_once(
    endpoint: ScriptedEndpoint, environment: dict[str, str], start_server: Callable[..., LiveServer]
) -> None:
    endpoint.always(answering(words=6))
    with valkey() as redis_url:
        first = start_server(**environment, REDIS_URL=redis_url)
        others = [start_server(data=first.data, **environment, REDIS_URL=redis_url) for _ in range(3)]
        record = record_of(first)
        persons = [Caller(server.url) for server in (first, *others)]
        common = persons[0].start("In common")

        def talk(number: int) -> list[str]:
            own, said = persons[number].start(f"{number} begins"), [f"{number} begins"]
            for turn in range(3):
                for chat in (own, common):
                    said.append(f"{number}.{turn} in {chat}")
                    persons[number].send(chat, said[-1])
            return said

        with ThreadPoolExecutor(4) as threads:
            said = [words for each in threads.map(talk, range(4)) for words in each]
        until(lambda: not record.busy() and not record.rows("SELECT * FROM chatapp_queuedmessage"), seconds=300)
        record.check()
        record.check_each_once(["In common", *said])
        assert [server.url for server in (first, *others) if "locked" in server.output] == []
