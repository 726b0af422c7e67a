"""What a person reads when the endpoint fails or the live connection is blocked, and the way on."""

import time
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Script, Visit, button, ended, last, messages, prose, send, shown_text
from tests.scripted import Answer, cut, document, head, json_error, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]

BLOCK_SOCKET = """window.isBlocked = true;
window.WebSocket = class extends WebSocket {
    constructor(url) { super(window.isBlocked ? String(url).replace("/ws/", "/blocked/") : url); }
};"""

CLOSED_AT_ONCE = """window.times = [];
window.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    constructor() {
        window.times.push(Date.now());
        setTimeout(() => {
            this.onopen?.();
            this.readyState = 3;
            this.onclose?.({ code: 4503 });
        });
    }
    send() {}
    close() {}
};"""


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (json_error(401, "Incorrect API key provided"), "refused the key"),
        (json_error(404, "The model does not exist"), "does not know this model"),
        (json_error(400, "temperature must be positive"), "refused the request"),
        (document("<html>Welcome</html>", content_type="text/html"), "something other than a reply"),
        (reply(""), "without a word"),
    ],
)
def test_error_of_the_endpoint_is_a_sentence_with_retry(chat: Page, script: Script, answer: Answer, words: str) -> None:
    script.will(answer)
    send(chat, "Well?")

    failed = ended(chat, count=4, status="failed")
    expect(failed).to_contain_text(words)
    script.will(reply("Better now."))
    button(failed, "Retry").click()

    expect(last(chat)).to_contain_text("Better now.")
    expect(messages(chat)).to_have_count(4)


def test_dropped_stream_keeps_the_text_with_the_error_below(chat: Page, script: Script) -> None:
    script.will([head(), *(text(f"word{number} ") for number in range(30)), cut()])
    send(chat, "Count")

    broken = ended(chat, count=4, status="interrupted")
    expect(broken).to_contain_text("word29")
    expect(broken.locator(".failure")).to_contain_text("What arrived is kept")
    assert prose(broken).first.bounding_box()["y"] < broken.locator(".failure").bounding_box()["y"]
    chat.reload()
    expect(last(chat)).to_contain_text("word29")
    expect(button(last(chat), "Retry")).to_be_visible()


def test_blocked_socket_is_named_within_five_seconds_and_sending_works(alice: Visit, script: Script) -> None:
    alice.allow("WebSocket connection")
    alice.context.add_init_script(BLOCK_SOCKET)
    began = time.monotonic()
    page = alice.open(alice.chat("Hello", "Hello to you."))
    banner = page.get_by_role("alert").filter(has_text="WebSocket")

    expect(banner).to_be_visible()
    assert time.monotonic() - began < 8, "five seconds where nothing else is running"
    gate = script.will_hold("First words")
    send(page, "Can you hear me?")
    expect(last(page)).to_contain_text("First words")
    gate.set()

    assert shown_text(ended(page, count=4)) == "First words The end."
    expect(banner).to_contain_text("proxy")


def test_connection_that_comes_back_takes_the_banner_away(alice: Visit) -> None:
    alice.allow("WebSocket connection")
    page = alice.context.new_page()
    page.add_init_script(BLOCK_SOCKET)
    page.goto(alice.chat("Hello", "Hello to you."))
    expect(page.locator("#banner")).to_be_visible()

    page.evaluate("window.isBlocked = false")

    expect(page.locator("#banner")).to_be_hidden()


def test_page_that_is_turned_away_comes_back_ever_later_and_not_with_the_others(alice: Visit) -> None:
    expected = [400 * 1.7**number for number in range(1, 7)]
    chat = alice.chat("Hello", "Hello to you.")

    pauses = []
    for _ in range(2):
        page = alice.context.new_page()
        page.clock.install()
        page.add_init_script(CLOSED_AT_ONCE)
        page.goto(chat)
        page.clock.run_for(60_000)
        pauses.append([later - former for former, later in pairwise(page.evaluate("times"))][:6])

    assert pauses[0] != pauses[1]
    for each in pauses:
        assert all(pause >= 0.5 * wait for pause, wait in zip(each, expected, strict=True)), each


def test_signed_out_elsewhere_keeps_the_text_and_says_so(alice: Visit, chat: Page) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code")
    alice.context.clear_cookies(name="sessionid")
    send(chat, "What I wrote")

    expect(chat.locator("#composer-error")).to_contain_text("igned out")
    expect(chat.get_by_role("textbox", name="Message")).to_have_value("What I wrote")


def test_deleted_in_another_tab_is_said(alice: Visit) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code", "WebSocket connection")
    path = alice.chat("Hello", "Hello to you.")
    first, second = alice.open(path), alice.open(path)
    first.goto(f"{path}delete/")
    button(first, "Delete").click()
    first.wait_for_url("/")

    send(second, "Still there?")

    expect(second.get_by_role("alert").filter(has_text="no longer there").first).to_be_visible()
    expect(second.get_by_role("textbox", name="Message")).to_have_value("Still there?")
