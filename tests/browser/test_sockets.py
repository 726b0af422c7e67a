"""The line between page and server: closed, lossy, slow, silent, asleep, a day old. In the end the page is exact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, WebSocketRoute, expect

from chatapp.consumers import FRAMES_AHEAD, HERE
from tests.browser.acting import Script, Visit, ended, last, messages, say, send, shown_text
from tests.browser.server_rows import ServerRows
from tests.scripted import Play, Signal, done, finish, head, hold, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]


def everything(_message: str) -> bool:
    return True


def nothing(_message: str) -> bool:
    return False


@dataclass
class Line:
    """All sockets of a page; what lies between it and the server loses and holds back what `loses` and `holds` name."""

    page: Page
    loses: Callable[[str], bool] = nothing
    holds: Callable[[str], bool] = nothing
    sockets: list[WebSocketRoute] = field(default_factory=list)
    came: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    held: list[tuple[WebSocketRoute, str]] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.route_web_socket("**/ws/**", self._open)

    def _open(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: self._take(route, str(message)))
        route.on_message(lambda message: (self.said.append(json.loads(message)), server.send(message)))
        self.sockets.append(route)

    def _take(self, route: WebSocketRoute, message: str) -> None:
        if self.loses(message):
            self.lost.append(message)
        elif self.holds(message):
            self.held.append((route, message))
        else:
            self.came.append(message)
            route.send(message)

    def let_go(self) -> None:
        """What was held back comes now, all at once."""
        self.holds, held, self.held = nothing, self.held, []
        for route, message in held:
            self.came.append(message)
            route.send(message)

    def wait(self, is_so: Callable[[], object], *, meanwhile: Callable[[], object] = lambda: None) -> None:
        """What passes here is heard only while the page is waited for."""
        for _ in range(1_500):
            if is_so():
                return
            meanwhile()
            self.page.wait_for_timeout(20)
        raise AssertionError((len(self.sockets), len(self.came), len(self.lost), len(self.held), self.said[-3:]))

    @property
    def questions(self) -> int:
        return sum("ask" in word for word in self.said)


@pytest.fixture
def line(alice: Visit) -> Line:
    alice.allow("WebSocket connection")  # one that is cut while it is being opened
    return Line(alice.context.new_page())


def is_frame(message: str) -> bool:
    return "data-frame" in message and "data-whole" not in message


def test_five_lost_connections_show_every_message_once(alice: Visit, script: Script, line: Line) -> None:
    line.page.clock.install()
    line.page.goto(alice.chat("Hello", "Hello to you."))
    gates = [Signal() for _ in range(6)]
    steps = [step for number, gate in enumerate(gates) for step in (text(f"part{number} "), hold(gate))]
    script.will([head(), *steps, finish(), done()])
    send(line.page, "Go on")

    for number, code in enumerate([1000, 1001, 1006, 1009, 1011]):
        line.wait(lambda: len(line.sockets) > number, meanwhile=lambda: line.page.clock.run_for(1_000))  # noqa: B023
        expect(last(line.page)).to_contain_text(f"part{number}")
        line.sockets[-1].close(code=code if code != 1006 else None)
        gates[number].set()
        expect(last(line.page)).to_contain_text(f"part{number + 1}")
    gates[5].set()

    assert shown_text(ended(line.page, count=4)).split() == [f"part{number}" for number in range(6)]
    assert [article.get_attribute("id") for article in messages(line.page).all()] == ["m-0", "m-1", "m-2", "m-3"]


def test_frames_that_get_lost_leave_a_gap_that_is_seen_and_filled(
    alice: Visit, script: Script, rows: ServerRows, line: Line
) -> None:
    line.page.goto(alice.chat("Hello", "Hello to you."))
    words = [f"word{number}" + ("\n\n" if number % 20 == 19 else " ") for number in range(300)]
    gates = [Signal(), Signal(), Signal()]
    steps = [head()]
    for begin, gate in zip((0, 100, 200), gates, strict=True):
        steps += [*map(text, words[begin : begin + 100]), hold(gate)]
    script.will([*steps, *reply("")[1:]])

    send(line.page, "Count")
    expect(last(line.page)).to_contain_text("word99")
    line.loses = is_frame
    gates[0].set()
    line.wait(lambda: any("word199" in message for message in line.lost))
    line.loses, before = nothing, len(line.came)
    gates[1].set()

    expect(last(line.page)).to_contain_text("word299")
    assert shown_text(last(line.page)).split() == "".join(words).split()
    assert any("data-whole" in message for message in line.came[before:])
    gates[2].set()
    assert shown_text(ended(line.page, count=4)).split() == "".join(words).split()
    assert rows.last_text(line.page.evaluate("location.pathname")).split() == "".join(words).split()


def test_thousand_deltas_at_a_slow_page_are_exact_in_the_end(
    alice: Visit, script: Script, rows: ServerRows, line: Line
) -> None:
    """So far behind, it is spared the frames in between, and gets one that holds everything."""
    words: list[str] = []
    is_behind, gate = Signal(), Signal()

    async def write(play: Play) -> None:
        while len(words) < 1_000 or not is_behind.is_set():
            words.append(f"word{len(words)}" + ("\n\n" if len(words) % 25 == 24 else " "))
            await text(words[-1])(play)
            await asyncio.sleep(0.008)

    path = alice.chat("Hello", "Hello to you.")
    line.page.goto(path)
    other = alice.open(path)
    script.will([head(), write, text("written"), hold(gate), *reply("")[1:]])
    line.holds = is_frame
    send(line.page, "Count")
    line.wait(lambda: len(line.held) > FRAMES_AHEAD)
    is_behind.set()
    expect(last(other)).to_contain_text("written")
    spared = "".join(message for _, message in line.held)
    line.let_go()

    expect(last(line.page)).to_contain_text("written")
    assert shown_text(last(line.page)).split() == [*"".join(words).split(), "written"]
    assert "written" not in spared
    gate.set()
    assert shown_text(ended(line.page, count=4)).split() == [*"".join(words).split(), "written"]
    assert rows.last_text(path) == "".join(words) + "written"


def test_quiet_page_asks_in_its_socket_and_costs_no_request(alice: Visit, line: Line) -> None:
    page = line.page
    page.clock.install()
    page.goto(alice.chat("Hello", "Hello to you."))
    line.wait(lambda: line.sockets)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for _ in range(60):
        page.clock.run_for(5_000)
        page.evaluate("0")  # what it has said is with the server by then
        line.wait(lambda: line.came.count(HERE) == line.questions)

    assert 9 <= line.questions <= 12, "every 25 to 30 seconds of five minutes"
    assert (asked, len(line.sockets)) == ([], 1)


@pytest.mark.parametrize("is_writing", [False, True])
def test_silent_socket_is_noticed_and_the_page_comes_up_to_date(
    alice: Visit, script: Script, line: Line, is_writing: bool
) -> None:
    """It looks open, but nothing comes through any more; nor does anything through the ones after it."""
    page, path = line.page, alice.chat("Hello", "Hello to you.")
    page.clock.install()
    page.goto(path)
    gate = script.will_hold("Some words")
    if is_writing:
        send(page, "Go on")
        expect(last(page)).to_contain_text("Some words")
    else:
        expect(messages(page)).to_have_count(2)
        other = alice.open(path)
        line.loses = everything
        send(other, "Go on")
        expect(last(other)).to_contain_text("Some words")
    line.loses = everything
    gate.set()
    if not is_writing:
        ended(other, count=4)

    for _ in range(9):
        page.clock.run_for(5_000)

    assert shown_text(ended(page, count=4)) == "Some words The end."
    line.wait(lambda: len(line.sockets) > 1)


@pytest.mark.parametrize("way", ["lid", "lid, let go by the server", "frozen"])
def test_tab_asleep_for_ten_minutes_comes_up_to_date_when_it_wakes(
    alice: Visit, script: Script, line: Line, way: str
) -> None:
    page, path = line.page, alice.chat("Hello", "Hello to you.")
    page.clock.install()
    page.goto(path)
    other = alice.open(path)
    gate = script.will_hold("While you slept")
    send(page, "Go on")
    expect(last(page)).to_contain_text("While you slept")
    expect(last(other)).to_contain_text("While you slept")

    browser = alice.context.new_cdp_session(page)
    if way == "frozen":
        browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    else:
        line.loses = everything
    gate.set()
    ended(other, count=4)
    say(other, "And again")
    line.loses = nothing
    if way == "frozen":
        browser.send("Page.setWebLifecycleState", {"state": "active"})
    elif way == "lid":
        page.clock.fast_forward("10:00")
    else:
        line.sockets[-1].close(code=1006)
        page.clock.fast_forward("10:00")

    ended(page, count=6)
    assert [shown_text(each) for each in messages(page).all()][3::2] == ["While you slept The end.", "Indeed."]


def test_tab_that_slept_comes_up_to_date_as_soon_as_it_is_looked_at(alice: Visit, line: Line) -> None:
    path = alice.chat("Hello", "Hello to you.")
    line.page.goto(path)
    other = alice.open(path)
    expect(messages(line.page)).to_have_count(2)
    line.loses = everything
    say(other, "While you slept")
    expect(messages(line.page)).to_have_count(2)

    line.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    ended(line.page, count=4)
    assert shown_text(last(line.page)) == "Indeed."


def test_socket_that_is_closed_after_a_day_asks_who_it_is_anew(alice: Visit, rows: ServerRows, line: Line) -> None:
    """Daphne closes each with 1000 after a day; what is signed in by then decides."""
    line.page.goto(alice.chat("Hello", "Hello to you."))
    line.wait(lambda: line.sockets)
    line.sockets[-1].close(code=1000)
    line.wait(lambda: len(line.sockets) == 2)
    expect(line.page.locator("#banner")).to_be_hidden()

    [key] = [cookie["value"] for cookie in alice.context.cookies() if cookie["name"] == "sessionid"]
    rows(Session.objects.filter(pk=key).delete)
    line.sockets[-1].close(code=1000)

    expect(line.page.locator("#banner")).to_have_attribute("data-cause", "signedOut")


def test_reply_larger_than_what_a_browser_may_send_comes_over_the_same_socket(page: Page, script: Script) -> None:
    """What Daphne takes is limited to 64 kB; autobahn held what it sends to the same limit, and the socket ended."""
    opened: list[object] = []
    page.on("websocket", lambda socket: opened.append(socket))  # noqa: PLW0108 (Playwright marks what it is given)
    say(page, "First")
    before = len(opened)
    script.will(reply("\n\n".join(f"Paragraph {number} of bread and patience." for number in range(2_500))))

    say(page, "At length")

    expect(last(page)).to_contain_text("Paragraph 2499")
    assert len(opened) == before, "the socket ended and came back"
