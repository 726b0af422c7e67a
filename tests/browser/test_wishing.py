"""What a person wishes of folding, by clicks: pins, up to here, a fresh start, a wish, the policy, what is sent."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import SUMMARY, Script, Visit, button, messages

pytestmark = [pytest.mark.browser, pytest.mark.server]

WORDS = "Bread wants time, warmth and patience, and then some more of each. " * 12
TALK = [f"{number}: {WORDS}" for number in range(8)]


def choose(message: Locator, item: str) -> None:
    """From the quiet menu under a message."""
    message.hover()
    message.get_by_label("More about this message").click()
    button(message, item).click()


def open_sheet(page: Page) -> Locator:
    page.locator("[data-meter] summary").click()
    page.locator("#meter").get_by_role("link", name="What the model is sent").click()
    sheet = page.get_by_role("dialog", name="What the model is sent")
    expect(sheet).to_be_visible()
    return sheet


def test_c6_pin_is_marked_and_taken_back(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    question = messages(page).first

    choose(question, "Pin")
    expect(question.get_by_text("Pinned")).to_be_visible()
    choose(question, "Unpin")

    expect(question.get_by_text("Pinned")).to_have_count(0)


def test_c6_archived_message_is_pinned_where_it_is_shown(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here.", folded_through=1))
    button(page, "Show archived messages").click()
    archived = page.locator("#archived article").first

    choose(archived, "Pin")

    expect(archived.get_by_text("Pinned")).to_be_visible()
    expect(page.locator("#archived article")).to_have_count(2)


def test_b6_fold_up_to_here_leaves_what_comes_after(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat(*TALK))

    choose(messages(page).nth(3), "Fold up to here")

    expect(page.locator("#crease")).to_contain_text("4 earlier messages")
    expect(messages(page)).to_have_count(4)


def test_b6_wish_goes_with_the_button_and_its_menu_closes(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat(*TALK))
    page.get_by_label("Compact now, with a wish").click()
    wish = page.get_by_label("What should be kept in particular?")
    wish.fill("Everything about the oven")

    wish.press("Enter")

    expect(page.locator("#crease")).to_be_visible()
    expect(wish).to_be_hidden()
    expect(wish).to_have_value("")
    asked = [payload for payload in script.endpoint.payloads if "max_tokens" in payload]
    assert "Everything about the oven" in json.dumps(asked[-1])


def test_j5_fresh_start_says_so_and_undo_brings_all_back(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here."))

    choose(messages(page).nth(2), "Start fresh here")
    expect(page.locator("#crease")).to_contain_text("2 earlier messages are no longer sent")
    expect(messages(page)).to_have_count(2)
    button(page, "Undo").click()

    expect(messages(page)).to_have_count(4)
    expect(page.locator("#crease")).to_have_count(0)


def test_sheet_shows_the_request_keeps_up_and_closes(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here.", folded_through=1))
    sheet = open_sheet(page)
    expect(sheet).to_contain_text("2 earlier messages were folded at")
    expect(sheet.get_by_text("Record of earlier turns")).to_be_visible()

    page.get_by_label("As the window fills").select_option("everything")

    expect(page.locator("#meter")).to_contain_text("never folds by itself")
    expect(sheet.locator(".parts")).to_contain_text("Here.")
    expect(page.get_by_label("As the window fills")).to_have_value("everything")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_sheet_copies_the_exact_json(visit: Callable[..., Visit]) -> None:
    alice = visit(permissions=["clipboard-read", "clipboard-write"])
    page = alice.open(alice.chat("Hello", "Hello to you."))
    sheet = open_sheet(page)

    button(sheet, "Copy").click()

    expect(button(sheet, "Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert [message["content"] for message in copied["messages"]] == ["Hello", "Hello to you."]


def test_i4_summary_is_edited_and_its_versions_can_be_read(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here.", folded_through=1))
    button(page, "Read summary").click()
    page.locator("#summary").get_by_role("link", name="Edit").click()
    page.get_by_label("Summary").fill("They greeted each other.")
    button(page, "Save").click()

    button(page, "Read summary").click()
    expect(page.locator("#summary")).to_contain_text("edited by hand")
    expect(page.locator("#summary-text")).to_have_text("They greeted each other.")
    button(page, "Details").click()
    page.get_by_role("link", name="Earlier compactions").click()

    page.get_by_text("The model’s version").click()
    expect(page.get_by_text(SUMMARY)).to_be_visible()


def test_wishes_work_without_javascript(visit: Callable[..., Visit]) -> None:
    alice = visit(java_script_enabled=False)
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here."))

    choose(messages(page).nth(2), "Start fresh here")
    expect(page.locator("#crease")).to_contain_text("2 earlier messages are no longer sent")
    page.locator("[data-meter] summary").click()
    page.locator("#meter").get_by_role("link", name="What the model is sent").click()
    page.get_by_label("As the window fills").select_option("window")
    button(page, "Use").click()

    expect(page.locator("#meter")).to_contain_text("sends the newest turns that fit")
