"""kill -9 of the server, at the worst moments: nothing is lost, nothing stays stuck."""

import re
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator

import pytest

from tests.live import LiveServer
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import ScriptedEndpoint, Signal, head, hold, reply, text
from tests.visiting import articles

pytestmark = pytest.mark.server

SUMMARY = "They spoke about bread at length; the dough wants warmth, time and patience, in winter above all."
LONG = "Bread wants time, warmth and patience, and then some more of each. " * 40


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint.in_thread() as scripted:
        yield scripted


@pytest.fixture
def server(endpoint: ScriptedEndpoint, start_server: Callable[..., LiveServer]) -> LiveServer:
    return start_server(OPENAI_BASE_URL=endpoint.base_url, OPENAI_MODEL="scripted", **ADMINISTRATOR)


def test_killed_in_mid_stream_keeps_the_text_and_offers_retry(endpoint: ScriptedEndpoint, server: LiveServer) -> None:
    gate = Signal()
    endpoint.will([head(), text("The first half. "), hold(gate)])
    ada = Caller(server.url)
    chat = ada.start("Tell me everything")
    gate.wait_reached()
    ada.until(chat, lambda page: "The first half." in page)
    _wait_for_the_row(server, "The first half. ")

    server.stop(by=signal.SIGKILL)
    server.start()
    page = ada.until_status(chat, "interrupted")

    assert "Tell me everything" in page
    assert "The first half." in page
    assert "Retry" in page
    reply_id = articles(page)[-1]["message"]
    endpoint.will(reply("All of it."))
    ada.post(f"{chat}messages/{reply_id}/retry/")
    assert "All of it." in ada.until_status(chat, "complete")


def test_what_waited_when_it_was_killed_waits_for_the_person_after_it(
    endpoint: ScriptedEndpoint, server: LiveServer
) -> None:
    gate = Signal()
    endpoint.will([head(), text("The first half. "), hold(gate)])
    endpoint.always(reply("Indeed."))
    ada = Caller(server.url)
    chat = ada.start("First")
    gate.wait_reached()
    ada.send(chat, "Second")
    ada.send(chat, "Third")

    server.stop(by=signal.SIGKILL)
    server.start()
    page = ada.until_status(chat, "interrupted")

    assert "The last reply ended early, so 2 messages wait for you." in page
    send_now = re.search(r'formaction="([^"]*/queue/[^"]*/send/)"', page)
    assert send_now
    ada.post(send_now[1])
    page = ada.until(chat, lambda page: [each["status"] for each in articles(page)][3::2] == ["complete", "complete"])
    assert 'id="queued-' not in page
    # Killed before its first words were stored, the first turn has no reply and is asked together with the second.
    asked = [payload["messages"][-1]["content"] for payload in endpoint.payloads[1:3]]
    assert [text.removeprefix("First\n\n") for text in asked] == ["Second", "Third"]


def test_killed_in_mid_compaction_leaves_the_old_state(endpoint: ScriptedEndpoint, server: LiveServer) -> None:
    endpoint.always(reply("Indeed."))
    ada = Caller(server.url)
    chat = ada.start(LONG)
    ada.until_status(chat, "complete")
    for number in range(3):
        ada.send(chat, f"{number}: {LONG}")
        ada.until_status(chat, "complete")
    gate = Signal()
    endpoint.always(lambda payload: [head(), text(SUMMARY), hold(gate)] if "max_tokens" in payload else reply("Yes."))
    ada.post(f"{chat}compact/")
    gate.wait_reached()

    server.stop(by=signal.SIGKILL)
    server.start()
    ada.until(chat, lambda page: "data-divider" not in page and 'data-compaction-status="running"' not in page)

    endpoint.always(lambda payload: reply(SUMMARY) if "max_tokens" in payload else reply("Yes."))
    ada.send(chat, "Still with me?")
    ada.until_status(chat, "complete")
    assert "0: Bread" in str(endpoint.payloads[-1]["messages"])
    ada.post(f"{chat}compact/")
    ada.until(chat, lambda page: "data-divider" in page)


def test_orderly_stop_stores_the_text_at_once(endpoint: ScriptedEndpoint, server: LiveServer) -> None:
    gate = Signal()
    endpoint.will([head(), text("Not yet "), text("saved"), hold(gate)])
    ada = Caller(server.url)
    chat = ada.start("Tell me")
    gate.wait_reached()
    ada.until(chat, lambda page: "Not yet saved" in page)

    server.stop()
    server.start()

    assert "Not yet saved" in ada.until_status(chat, "interrupted", seconds=2)


def _wait_for_the_row(server: LiveServer, words: str) -> None:
    """The text is stored at most a second after it was shown."""
    end = time.monotonic() + 30
    with sqlite3.connect(server.data / "foldline.sqlite3") as database:
        while not database.execute("SELECT 1 FROM chatapp_message WHERE content = ?", [words]).fetchone():
            assert time.monotonic() < end, words
            time.sleep(0.02)
