"""Messages sent while a reply is written: shown above the box, sent in order, edited, discarded, sent now."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.acting import Script, Visit, box, button, ended, last, messages, prose, send
from tests.browser.pictures import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


def queue(page: Page) -> Locator:
    return page.locator("#queue li")


def queue_up(page: Page, *texts: str) -> None:
    """By the keyboard, as a person in the middle of a thought does it."""
    expect(button(page, "Stop")).to_be_visible()
    for number, words in enumerate(texts, start=queue(page).count() + 1):
        box(page).fill(words)
        box(page).press("Enter")
        expect(queue(page)).to_have_count(number)
        expect(box(page)).to_have_value("")


def user_texts(page: Page) -> list[str]:
    return [prose(each).inner_text() for each in page.locator("#log article[data-role=user]").all()]


def test_three_queued_reply_ends_reload_all_three_once_in_order(chat: Page, alice: Visit, script: Script) -> None:
    gate = script.will_hold("Thinking")
    send(chat, "First")
    expect(last(chat)).to_contain_text("Thinking")
    queue_up(chat, "Second", "Third", "Fourth")
    expect(chat.locator("#status")).to_have_text("3 messages wait for the reply to end.")
    other = alice.open(chat.url)
    expect(queue(other)).to_have_count(3)
    expect(messages(other)).to_have_count(4)

    gate.set()
    ended(chat, count=10)
    ended(other, count=10)
    chat.reload()

    assert user_texts(chat) == ["Hello", "First", "Second", "Third", "Fourth"]
    expect(queue(chat)).to_have_count(0)


def test_the_button_queues_beside_stop_once_something_is_typed(chat: Page, script: Script) -> None:
    gate = script.will_hold("Thinking")
    send(chat, "First")
    expect(button(chat, "Stop")).to_be_visible()
    expect(button(chat, "Queue")).to_be_hidden()

    box(chat).fill("Second")
    button(chat, "Queue").click()

    expect(queue(chat)).to_have_count(1)
    expect(button(chat, "Queue")).to_be_hidden()
    gate.set()
    ended(chat, count=6)


def test_edit_brings_the_text_back_behind_what_is_typed(chat: Page, alice: Visit, script: Script) -> None:
    gate = script.will_hold("Thinking")
    send(chat, "First")
    queue_up(chat, "Second\nwith  <b>two</b> lines", "Third")
    box(chat).fill("Half a thought")

    button(queue(chat).first, "Edit").click()

    expect(box(chat)).to_have_value("Half a thought\n\nSecond\nwith  <b>two</b> lines")
    expect(box(chat)).to_be_focused()
    expect(queue(chat)).to_have_count(1)
    chat.reload()
    expect(box(chat)).to_have_value("Half a thought\n\nSecond\nwith  <b>two</b> lines")
    gate.set()
    ended(chat, count=6)
    assert user_texts(chat) == ["Hello", "First", "Third"]


def test_edit_whose_answer_is_lost_loses_no_word(chat: Page, alice: Visit, script: Script) -> None:
    alice.allow("ERR_FAILED", "htmx:", "Failed to load resource")
    gate = script.will_hold("Thinking")
    send(chat, "First")
    queue_up(chat, "Second")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    chat.route("**/edit/", lose_the_answer)
    button(queue(chat).first, "Edit").click()

    expect(box(chat)).to_have_value("Second")
    expect(queue(chat)).to_have_count(0)
    gate.set()
    ended(chat, count=4)


def test_discard_by_the_keyboard_leaves_the_focus_in_the_box(chat: Page, script: Script) -> None:
    gate = script.will_hold("Thinking")
    send(chat, "First")
    queue_up(chat, "Second")

    button(queue(chat).first, "Discard").focus()
    chat.keyboard.press("Enter")

    expect(queue(chat)).to_have_count(0)
    expect(box(chat)).to_be_focused()
    gate.set()
    ended(chat, count=4)


def test_stop_leaves_the_queue_and_send_now_goes_on_with_it(chat: Page, script: Script) -> None:
    script.will_hold("Some words")
    send(chat, "First")
    expect(last(chat)).to_contain_text("Some words")
    queue_up(chat, "Second", "Third")
    button(chat, "Stop").click()

    ended(chat, count=4, status="stopped")
    words = "The last reply ended early, so 2 messages wait for you."
    expect(chat.locator("#queue-words")).to_have_text(words)
    expect(chat.locator("#status")).to_have_text(words)
    chat.reload()
    button(queue(chat).first, "Send now").click()

    ended(chat, count=8)
    assert user_texts(chat) == ["Hello", "First", "Second", "Third"]


def test_send_now_stops_the_reply_being_written(chat: Page, script: Script) -> None:
    script.will_hold("Some words")
    send(chat, "First")
    expect(last(chat)).to_contain_text("Some words")
    queue_up(chat, "Second")

    button(queue(chat).first, "Send now").click()

    ended(chat, count=6)
    expect(messages(chat).nth(3)).to_have_attribute("data-status", "stopped")
    expect(queue(chat)).to_have_count(0)


def test_without_javascript_a_message_is_queued_edited_and_discarded(
    visit: Callable[..., Visit], script: Script
) -> None:
    plain = visit(java_script_enabled=False)
    gate = script.will_hold("Thinking")
    page = plain.open(plain.chat("Hello", "Hello to you."))
    for words, name in (("First", "Send"), ("Second", "Queue"), ("Third", "Queue")):
        box(page).fill(words)
        button(page, name).click()
    expect(queue(page)).to_have_count(2)

    box(page).fill("Half a thought")
    button(queue(page).first, "Edit").click()
    assert box(page).input_value() == "Half a thought\n\nSecond"
    button(queue(page).first, "Discard").click()

    expect(queue(page)).to_have_count(0)
    expect(messages(page)).to_have_count(4)
    gate.set()


def test_a_long_queue_leaves_the_box_on_a_phone(chat: Page, script: Script) -> None:
    gate = script.will_hold("Thinking")
    send(chat, "First")
    expect(last(chat)).to_contain_text("Thinking")
    long = "And what about rye, which my grandmother baked with caraway every second Saturday of the winter? " * 3
    queue_up(chat, "And in winter?", long, *[f"Question {number}" for number in range(1, 6)])
    box(chat).fill("One more")
    take_pictures(chat, "queue")

    chat.set_viewport_size({"width": 390, "height": 500})
    expect(box(chat)).to_be_in_viewport(ratio=1)
    expect(button(chat, "Queue")).to_be_in_viewport(ratio=1)
    assert chat.evaluate("document.documentElement.scrollWidth") == 390
    for _ in range(7):
        before = queue(chat).count()
        button(queue(chat).last, "Discard").click()
        expect(queue(chat)).to_have_count(before - 1)
    gate.set()
    ended(chat, count=4)
