"""The page where no script runs: everything that HTML can do still works."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Visit, box, button, messages, prose

pytestmark = [pytest.mark.browser, pytest.mark.server]

TALK = [f"{number}: " + "Bread wants time, warmth and patience. " * 20 for number in range(8)]


@pytest.fixture
def plain(visit: Callable[..., Visit]) -> Visit:
    return visit(java_script_enabled=False)


def until(page: Page, holds: Callable[[], object]) -> None:
    """What another process does is seen by asking again."""
    for _ in range(100):
        if holds():
            return
        page.reload()
    raise AssertionError("it never came")


def test_a_message_is_sent_and_the_reply_seen_on_reload(plain: Visit) -> None:
    page = plain.open("/")
    box(page).fill("Hello")
    button(page, "Send").click()

    expect(messages(page)).to_have_count(2)
    # The page is read in several queries: painted just as the reply ends, it may hold the whole reply and "Stop".
    until(page, lambda: messages(page).last.get_attribute("data-status") == "complete" and button(page, "Send").count())
    assert prose(messages(page).last).first.inner_text() == "Indeed."
    box(page).fill("And again")
    button(page, "Send").click()
    expect(messages(page)).to_have_count(4)


def test_a_refused_message_stays_in_the_box(plain: Visit) -> None:
    plain.allow("status of 422")
    page = plain.open(plain.chat("Hello", "Hello to you."))
    much = "bread wants time and warmth " * 3_000
    box(page).fill(much)
    button(page, "Send").click()

    expect(page.get_by_role("alert").filter(has_text="more than this model can hold")).to_be_visible()
    assert box(page).input_value().strip() == much.strip()


def test_the_fold_is_opened_read_undone_and_made_again(plain: Visit) -> None:
    page = plain.open(plain.chat(*TALK, folded_through=3))
    button(page, "Show archived messages").click()
    expect(page.locator("#archived article")).to_have_count(4)
    expect(page.locator("#archived article").first).to_be_visible()
    expect(page.locator("#summary-text")).to_be_visible()

    button(page, "Undo").click()
    expect(page.locator("section[data-divider]")).to_have_count(0)
    expect(messages(page)).to_have_count(8)
    button(page, "Compact now").click()

    until(page, lambda: page.locator("section[data-divider]").count() == 1)


def test_a_reply_is_stopped_by_a_form(plain: Visit, script) -> None:
    script.will_hold("What there is")
    page = plain.open(plain.chat("Hello", "Hello to you."))
    box(page).fill("Go on")
    button(page, "Send").click()
    until(page, lambda: "What there is" in messages(page).last.inner_text())

    button(page, "Stop").click()

    until(page, lambda: messages(page).last.get_attribute("data-status") == "stopped")
    expect(messages(page).last).to_contain_text("What there is")


def test_older_messages_are_behind_a_link(plain: Visit) -> None:
    page = plain.open(plain.chat(*[f"message {number}" for number in range(100)]))
    page.get_by_role("link", name="Earlier messages").click()

    expect(page.get_by_text("message 59", exact=True)).to_be_visible()
    expect(box(page)).to_be_visible()
    page.get_by_role("link", name="Earlier messages").click()
    expect(page.get_by_text("message 0", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Earlier messages")).to_have_count(0)


def test_archived_messages_of_a_long_chat_are_behind_links(plain: Visit) -> None:
    page = plain.open(plain.chat(*[f"message {number}" for number in range(100)], folded_through=89))
    button(page, "Show archived messages").click()
    page.locator("#archived").get_by_role("link", name="Earlier messages").click()

    expect(page.get_by_text("message 49", exact=True)).to_be_visible()
    expect(box(page)).to_be_visible()
