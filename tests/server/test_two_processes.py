"""Two web processes on one database with Valkey between them: what one writes, the other shows and stops."""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from tests.live import LiveServer
from tests.over_http import ADMINISTRATOR, Caller
from tests.scripted import ScriptedEndpoint, Signal, done, finish, head, hold, reply, text
from tests.visiting import articles
from tests.with_servers import valkey

pytestmark = pytest.mark.server

Pair = tuple[Caller, Caller]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint.in_thread() as scripted:
        yield scripted


@pytest.fixture
def pair(endpoint: ScriptedEndpoint, start_server: Callable[..., LiveServer]) -> Iterator[Pair]:
    with valkey() as redis_url:
        environment = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted", "REDIS_URL": redis_url}
        one = start_server(**environment, **ADMINISTRATOR)
        two = start_server(data=one.data, **environment)
        yield Caller(one.url), Caller(two.url)


def test_page_of_one_process_follows_and_stops_what_another_writes(endpoint: ScriptedEndpoint, pair: Pair) -> None:
    here, there = pair
    gate, never = Signal(), Signal()
    endpoint.will([head(), text("One.\n\nTwo "), hold(gate), text("and three."), hold(never), finish(), done()])
    chat = here.start("Count")
    gate.wait_reached()

    with there.socket(chat) as page:
        whole = page.until("data-whole")
        gate.set()
        further = page.until("and three.")

        began = time.monotonic()
        there.post(f"{chat}stop/")
        page.until('data-status="stopped"')
        seconds = time.monotonic() - began

    assert "One." in whole
    assert "data-frame" in further
    assert seconds < 0.5
    assert "and three." in here.until_status(chat, "stopped")


def test_what_waits_behind_another_process_is_shown_there_and_sent_once(endpoint: ScriptedEndpoint, pair: Pair) -> None:
    here, there = pair
    gate, never = Signal(), Signal()
    endpoint.will([head(), text("One"), hold(gate), finish(), done()], [head(), text("Two"), hold(never)])
    endpoint.always(reply("Three"))
    asked = len(endpoint.requests)
    chat = here.start("First")
    gate.wait_reached()

    with here.socket(chat) as page:
        there.send(chat, "Second")
        there.send(chat, "Third")
        shown = page.until("2 messages wait for the reply to end.")
        gate.set()
        never.wait_reached()
        send_now = re.search(r'formaction="([^"]*/queue/[^"]*/send/)"', there.get(chat))
        assert send_now
        there.post(send_now[1])

    page = there.until(chat, lambda page: len(articles(page)) == 6 and articles(page)[-1]["status"] == "complete")
    assert "Third" in shown
    assert [each["status"] for each in articles(page)][1::2] == ["complete", "stopped", "complete"]
    said = [payload["messages"][-1]["content"] for payload in endpoint.payloads[asked:]]
    assert said[:3] == ["First", "Second", "Third"]
    assert sum(words in {"First", "Second", "Third"} for words in said) == 3
