"""What broke in other chats, met where a person would meet it, as far as no test of a feature holds it already."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.acting import Script, Visit, button, ended, last, messages, prose, say, send, shown_text
from tests.browser.server_rows import ServerRows
from tests.scripted import Signal, head, hold, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]


def step(message: Locator, name: str) -> None:
    """To the next or previous version, if there is one, and until it is shown."""
    before = message.locator(".versions").inner_text()
    button(message, name).click()
    expect(message.locator(".versions")).not_to_have_text(before)


def test_every_leaf_of_a_tree_of_versions_can_be_shown(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat("One", "First."))
    script.will(reply("First, again."), reply("Second."), reply("Second, again."))
    first, second = page.locator("#m-0"), page.locator("#m-1")
    button(second, "Regenerate").click()
    expect(prose(second)).to_have_text("First, again.")
    first.locator("[data-edit]").click()
    page.get_by_role("textbox", name="Your message").fill("Two")
    button(page, "Save and answer").click()
    expect(prose(second)).to_have_text("Second.")
    button(second, "Regenerate").click()
    expect(prose(second)).to_have_text("Second, again.")

    seen = set()
    for said in ("Next version", "Previous version"):
        if "aria-disabled" not in (button(first, said).evaluate("each => each.outerHTML")):
            step(first, said)
        for answered in ("Previous version", "Next version"):
            if "aria-disabled" not in (button(second, answered).evaluate("each => each.outerHTML")):
                step(second, answered)
            seen.add((prose(first).inner_text(), prose(second).inner_text()))

    assert seen == {("One", "First."), ("One", "First, again."), ("Two", "Second."), ("Two", "Second, again.")}


def test_tab_that_slept_comes_up_to_date_when_it_is_looked_at(alice: Visit) -> None:
    is_asleep = Signal()

    def pass_on(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: None if is_asleep.is_set() else route.send(message))

    path = alice.chat("Hello", "Hello to you.")
    sleeper, other = alice.context.new_page(), alice.open(path)
    sleeper.route_web_socket("**/ws/**", pass_on)
    sleeper.goto(path)
    expect(messages(sleeper)).to_have_count(2)
    is_asleep.set()
    say(other, "While you slept")
    expect(messages(sleeper)).to_have_count(2)

    sleeper.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    ended(sleeper, count=4)
    assert shown_text(last(sleeper)) == "Indeed."


@dataclass
class Line:
    """A page's socket on which, while it is losing, no frame comes through that isn't whole."""

    is_losing: bool = False
    lost: list[str] = field(default_factory=list)
    whole_after_loss: int = 0

    def open(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: self.take(route, str(message)))

    def take(self, route: WebSocketRoute, message: str) -> None:
        if self.is_losing and "data-frame" in message and "data-whole" not in message:
            self.lost.append(message)
            return
        self.whole_after_loss += bool(self.lost) and "data-whole" in message
        route.send(message)

    def wait_until_lost(self, page: Page, word: str) -> None:
        """What passes on this line is heard only while the page is waited for."""
        for _ in range(1_000):
            if any(word in message for message in self.lost):
                return
            page.wait_for_timeout(20)
        raise AssertionError(f"{word} never came")


def test_frames_that_get_lost_leave_a_gap_that_is_seen_and_filled(
    alice: Visit, script: Script, rows: ServerRows
) -> None:
    line = Line()
    alice.context.route_web_socket("**/ws/**", line.open)
    page = alice.open(alice.chat("Hello", "Hello to you."))
    words = [f"word{number}" + ("\n\n" if number % 20 == 19 else " ") for number in range(300)]
    gates = [Signal(), Signal(), Signal()]
    steps = [head()]
    for begin, gate in zip((0, 100, 200), gates, strict=True):
        steps += [*map(text, words[begin : begin + 100]), hold(gate)]
    script.will([*steps, *reply("")[1:]])

    send(page, "Count")
    expect(last(page)).to_contain_text("word99")
    line.is_losing = True
    gates[0].set()
    line.wait_until_lost(page, "word199")
    line.is_losing = False
    gates[1].set()

    expect(last(page)).to_contain_text("word299")
    assert shown_text(last(page)).split() == "".join(words).split()
    assert line.whole_after_loss
    gates[2].set()
    assert shown_text(ended(page, count=4)).split() == "".join(words).split()
    assert rows.last_text(page.evaluate("location.pathname")).split() == "".join(words).split()


def test_thoughts_of_a_model_are_no_part_of_the_title_it_gives(page: Page, script: Script) -> None:
    script.title = reply("<think>Hm, bread. Or winter?</think>Bread in winter", thoughts="What would a title be?")

    say(page, "Hello")

    expect(page.get_by_role("heading", level=1)).to_have_text("Bread in winter")
    expect(page.locator("#sidebar-chats")).to_contain_text("Bread in winter")
    expect(page.locator("#sidebar-chats")).not_to_contain_text("Hm, bread")


def test_sixty_replies_that_never_come_leave_the_sign_in_page_quick(alice: Visit, script: Script) -> None:
    gate = Signal()
    script.usually = [hold(gate), *reply("At last.")]
    alice.context.request.get("/")
    token = next(each["value"] for each in alice.context.cookies() if each["name"] == "csrftoken")
    for number in range(60):
        form = {"text": f"Question {number}", "csrfmiddlewaretoken": token, "idempotency_key": f"sixty{number}"}
        assert alice.context.request.post("/chats/", form=form, max_redirects=0).status == 302

    took = []
    for _ in range(3):
        began = time.monotonic()
        assert alice.context.request.get("/accounts/password/reset/").ok
        took.append(time.monotonic() - began)
    gate.set()

    assert min(took) < 1, "0.3 seconds where nothing else is running"
