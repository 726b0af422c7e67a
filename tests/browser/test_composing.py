"""The box: which keys send, what keeps a text that wasn't sent, and what it says of the chat's size."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.acting import Script, Visit, box, button, ended, messages, prose, say, send

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


def test_enter_sends_and_shift_enter_breaks_the_line(chat: Page) -> None:
    box(chat).press_sequentially("One")
    box(chat).press("Shift+Enter")
    box(chat).press_sequentially("two")
    expect(box(chat)).to_have_value("One\ntwo")

    box(chat).press("Enter")

    ended(chat, count=4)
    assert prose(messages(chat).nth(2)).inner_text() == "One\ntwo"
    expect(box(chat)).to_have_value("")


def test_send_button_sends(chat: Page) -> None:
    box(chat).fill("By the button")
    button(chat, "Send").click()

    ended(chat, count=4)


def test_enter_that_ends_a_composition_sends_nothing(chat: Page, script: Script) -> None:
    box(chat).fill("にほん")
    box(chat).evaluate(
        """box => {
            box.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
            const enter = { key: "Enter", bubbles: true, cancelable: true };
            box.dispatchEvent(new KeyboardEvent("keydown", { ...enter, isComposing: true }));
            box.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
            box.dispatchEvent(new KeyboardEvent("keydown", { ...enter, keyCode: 229 }));
        }"""
    )
    expect(box(chat)).to_have_value("にほん")

    box(chat).press("Enter")

    ended(chat, count=4)
    assert prose(messages(chat).nth(2)).inner_text() == "にほん"


def test_return_on_a_touch_keyboard_breaks_the_line(visit: Callable[..., Visit]) -> None:
    hand = visit(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 780})
    page = hand.open(hand.chat("Hello", "Hello to you."))

    box(page).press_sequentially("One")
    box(page).press("Enter")
    box(page).press_sequentially("two")

    expect(box(page)).to_have_value("One\ntwo")
    box(page).press("Control+Enter")
    ended(page, count=4)


def test_double_enter_on_a_slow_line_sends_once(alice: Visit, chat: Page, script: Script) -> None:
    held: list[Route] = []
    chat.route("**/send/", lambda route: held.append(route))  # noqa: PLW0108 (a bound method of a list takes no mark)
    box(chat).fill("Only once")
    with chat.expect_request("**/send/"):
        chat.keyboard.press("Enter")
        chat.keyboard.press("Enter")
        button(chat, "Send").click()
    asked = len(script.endpoint.requests)
    held[0].continue_()

    ended(chat, count=4)
    assert len(held) == 1
    assert len(script.endpoint.requests) == asked + 1


def test_a_blank_message_is_not_sent(chat: Page) -> None:
    box(chat).fill("  \n ")
    box(chat).press("Enter")
    button(chat, "Send").click()

    expect(messages(chat)).to_have_count(2)


@pytest.mark.parametrize("status", [400, 401, 403, 413, 500])
def test_a_failed_send_keeps_the_text_and_says_why(alice: Visit, chat: Page, status: int) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code")
    chat.route("**/send/", lambda route: route.fulfill(status=status, body="<h1>No</h1>", content_type="text/html"))

    send(chat, "What I wrote")

    expect(chat.get_by_role("alert").filter(has_text=".")).to_be_visible()
    expect(chat.locator("#composer-error")).to_contain_text("ext")
    expect(chat.locator("#composer-error")).not_to_contain_text("<h1>")
    expect(box(chat)).to_have_value("What I wrote")
    chat.unroute("**/send/")
    box(chat).press("Enter")
    ended(chat, count=4)
    expect(chat.locator("#composer-error")).to_be_empty()


def test_offline_keeps_the_text_and_sends_it_once_after(alice: Visit, chat: Page) -> None:
    alice.allow("ERR_INTERNET_DISCONNECTED", "htmx:", "WebSocket connection")
    alice.context.set_offline(True)
    send(chat, "What I wrote")
    expect(chat.locator("#composer-error")).to_contain_text("nothing was sent")
    expect(box(chat)).to_have_value("What I wrote")

    alice.context.set_offline(False)
    box(chat).press("Enter")

    ended(chat, count=4)
    expect(box(chat)).to_have_value("")


def test_an_answer_that_got_lost_is_not_sent_again_as_another(alice: Visit, chat: Page) -> None:
    """The server took it, but the page never heard: the same text pressed again is the same message."""
    alice.allow("ERR_FAILED", "htmx:", "Failed to load resource")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    chat.route("**/send/", lose_the_answer)
    with chat.expect_event("requestfailed", lambda request: request.url.endswith("/send/")):
        send(chat, "Sent already")
    ended(chat, count=4)
    chat.unroute("**/send/")
    box(chat).press("Enter")

    expect(box(chat)).to_have_value("")
    expect(messages(chat)).to_have_count(4)


def test_draft_survives_a_reload_and_another_chat(alice: Visit, chat: Page) -> None:
    box(chat).fill("Half a thought")
    other = alice.chat("Elsewhere", "Quite.")

    chat.reload()
    expect(box(chat)).to_have_value("Half a thought")
    back = chat.url
    chat.goto(other)
    expect(box(chat)).to_have_value("")
    chat.goto(back)

    expect(box(chat)).to_have_value("Half a thought")


def test_draft_is_on_another_device_and_never_over_what_is_newer_there(alice: Visit, browser: Browser) -> None:
    desk = alice.open(alice.chat("Hello", "Hello to you."))
    other = browser.new_context(storage_state={"cookies": alice.context.storage_state()["cookies"]})
    phone = other.new_page()
    phone.goto(desk.url)
    with desk.expect_response("**/draft/"):
        box(desk).fill("From the desk")
    phone.reload()
    expect(box(phone)).to_have_value("From the desk")
    phone.route("**/draft/", lambda route: route.abort())
    phone.evaluate("navigator.sendBeacon = () => false")
    box(phone).press("End")
    box(phone).press_sequentially(", and the phone")

    phone.unroute("**/draft/")
    phone.reload()

    expect(box(phone)).to_have_value("From the desk, and the phone")
    button(phone, "Send").click()
    ended(phone, count=4)
    desk.reload()
    expect(box(desk)).to_have_value("")
    other.close()


def test_answer_to_an_older_draft_says_nothing_of_a_newer_one_that_was_lost(chat: Page) -> None:
    """Of two requests under way the later one may never arrive, or arrive at another process later still."""
    under_way: list[Route] = []
    chat.route("**/draft/", lambda route: under_way.append(route))  # noqa: PLW0108 (Playwright looks into it)
    with chat.expect_request("**/draft/"):
        box(chat).fill("Half")
    box(chat).fill("Half a thought")
    chat.evaluate(
        """() => { navigator.sendBeacon = () => true;
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            document.dispatchEvent(new Event("visibilitychange")); }"""
    )
    with chat.expect_response("**/draft/"):
        under_way[0].continue_()
    chat.evaluate("new Promise((resolve) => setTimeout(resolve))")  # the answer has been read
    chat.unroute("**/draft/")

    chat.reload()

    expect(box(chat)).to_have_value("Half a thought")


def test_draft_that_was_not_saved_yet_is_saved_as_the_page_goes(chat: Page) -> None:
    box(chat).fill("In a hurry")
    back = chat.url
    chat.goto("/")
    chat.evaluate("localStorage.clear()")
    chat.goto(back)

    expect(box(chat)).to_have_value("In a hurry")


def test_nothing_typed_is_left_in_the_browser_after_signing_out(visit: Callable[..., Visit], chat: Page) -> None:
    box(chat).fill("My secret")
    box(chat).press("End")
    assert "My secret" in chat.evaluate("JSON.stringify({ ...localStorage })")

    chat.goto("/accounts/logout/")
    button(chat, "Sign out").click()

    expect(chat.get_by_role("button", name="Sign in")).to_be_visible()
    assert "My secret" not in chat.evaluate("JSON.stringify({ ...localStorage })")


def test_what_is_typed_while_a_reply_is_written_stays(chat: Page, script: Script) -> None:
    gate = script.will_hold("Some words")
    send(chat, "Go on")
    expect(button(chat, "Stop")).to_be_visible()

    box(chat).press_sequentially("My next thought")
    gate.set()

    ended(chat, count=4)
    expect(box(chat)).to_have_value("My next thought")
    expect(box(chat)).to_be_focused()


def test_more_than_the_window_is_said_before_sending(alice: Visit, chat: Page) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code")
    much = "bread wants time and warmth " * 3_000
    box(chat).fill(much)
    box(chat).press("Enter")

    expect(chat.locator("#composer-error")).to_contain_text("more than this model can hold")
    assert box(chat).input_value() == much
    expect(messages(chat)).to_have_count(2)


def test_typing_moves_the_meter(chat: Page) -> None:
    meter = chat.locator("[data-meter]")
    before = int(meter.get_attribute("data-used") or 0)

    box(chat).fill("bread wants time and warmth " * 100)

    chat.wait_for_function(
        "used => Number(document.querySelector('[data-meter]').dataset.used) > used + 300", arg=before
    )
    meter.locator("summary").click()
    expect(meter.locator("div", has_text="What you are typing")).not_to_contain_text("typing\n0")
    box(chat).fill("")
    expect(meter).to_have_attribute("data-used", str(before))


def test_a_new_chat_begins_with_the_first_message(page: Page) -> None:
    reply = say(page, "Hello")

    assert prose(reply).first.inner_text() == "Indeed."
    expect(page.get_by_role("heading", level=1)).to_have_text("A talk about bread")
    expect(page.get_by_role("navigation").get_by_role("link", name="A talk about bread")).to_be_visible()
    page.go_back()
    expect(box(page)).to_have_value("")
