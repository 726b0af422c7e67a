"""A chat of a thousand turns is as light as a short one, to look at, to scroll and to type in."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Visit, box, messages

pytestmark = [pytest.mark.browser, pytest.mark.server]

TURNS = [f"message {number}: bread wants **time**, warmth and patience" for number in range(2_000)]


@pytest.fixture
def long_chat(alice: Visit) -> Page:
    return alice.open(alice.chat(*TURNS, model="vast"))


def test_only_the_newest_are_mounted_and_older_ones_come_by_scrolling(long_chat: Page) -> None:
    page = long_chat
    assert page.locator("article").count() <= 40
    expect(page.get_by_text("message 1999:")).to_be_in_viewport()

    page.locator("#scroll").hover()
    page.mouse.wheel(0, -1_000_000)

    expect(page.locator("article")).to_have_count(80)
    place = page.get_by_text("message 1960:")
    page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    expect(place).to_be_in_viewport()
    expect(page.get_by_text("message 1920:")).not_to_be_in_viewport()


def test_going_on_after_older_ones_were_loaded_shows_each_once(long_chat: Page) -> None:
    page = long_chat
    page.get_by_role("link", name="Earlier messages").evaluate("link => link.click()")
    expect(page.locator("article")).to_have_count(80)

    say_count = messages(page).count()
    box(page).fill("And on it goes")
    box(page).press("Enter")

    expect(messages(page)).to_have_count(say_count + 2)
    ids = page.locator("article").evaluate_all("all => all.map((each) => each.id)")
    assert len(ids) == len(set(ids)) == 82


def test_typing_is_as_fast_as_in_a_short_chat(alice: Visit, long_chat: Page) -> None:
    short = alice.open(alice.chat("Hello", "Hello to you."))
    times = {"short": typing_ms(short), "long": typing_ms(long_chat)}

    assert times["long"] < 2 * times["short"] + 8, times


def typing_ms(page: Page) -> float:
    """Middle of the time that one key takes until its frame is laid out."""
    box(page).focus()
    measured = page.evaluate(
        """async () => {
            const times = [];
            for (let i = 0; i < 60; i += 1) {
                const began = performance.now();
                document.execCommand("insertText", false, "x");
                document.body.offsetHeight;
                times.push(performance.now() - began);
                if (i % 10 === 0) await new Promise(requestAnimationFrame);
            }
            return times.sort((a, b) => a - b)[30];
        }"""
    )
    return float(measured)


def test_first_paint_of_a_long_chat_is_quick(long_chat: Page) -> None:
    long_chat.reload()
    paint = long_chat.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    assert paint < 3_000, "under a second where nothing else is running"
