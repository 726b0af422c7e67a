"""Deleting by clicks: asked in a sheet, a quiet line with Undo, and a summary that is rebuilt without the message."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import Script, Visit, button, messages, say
from tests.scripted import reply

pytestmark = [pytest.mark.browser, pytest.mark.server]

CANARY = "Kestrelgate 77"
BREAD = "Bread wants time, warmth and patience, and then some more of each. " * 6
TALK = [f"They meet at {CANARY}. {BREAD}", "Noted.", *[f"{number}: {BREAD}" for number in range(2, 8)]]
TOLD = f"They spoke about bread at length, and that they meet at {CANARY}, which nobody is to know."
ANEW = "They spoke about bread at length; the dough wants warmth, time and patience, in winter above all."


def ask_to_delete(page: Page, message: Locator) -> Locator:
    message.hover()
    message.get_by_label("More about this message").click()
    message.get_by_role("link", name="Delete", exact=True).click()
    sheet = page.get_by_role("dialog", name="Delete this message?")
    expect(sheet).to_be_visible()
    return sheet


def test_j2_a_turn_is_deleted_and_comes_back_with_undo(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK))

    button(ask_to_delete(page, messages(page).first), "Delete this message").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_text("2 messages deleted")).to_be_visible()
    assert CANARY not in page.content()
    button(messages(page).first, "Undo").click()

    expect(messages(page).first).to_contain_text(CANARY)
    expect(messages(page)).to_have_count(8)
    expect(page.get_by_text("messages deleted")).to_have_count(0)


def test_j2_all_that_follows_is_one_line_and_the_chat_goes_on(alice: Visit, script: Script) -> None:
    alice.allow("htmx:afterRequest", "htmx:sendAbort")  # the meter may be asking when the page closes
    page = alice.open(alice.chat(*TALK))

    sheet = ask_to_delete(page, messages(page).nth(2))
    button(sheet, "Delete it and all that follows").click()
    expect(page.get_by_text("6 messages deleted")).to_be_visible()
    say(page, "And now?")

    sent = script.endpoint.payloads[-1]["messages"]
    assert [message["content"] for message in sent] == [*TALK[:2], "And now?"]


def test_j2_keeping_it_changes_nothing(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK))

    button(ask_to_delete(page, messages(page).first), "Cancel").click()

    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(messages(page).first).to_contain_text(CANARY)


def test_j2_the_summary_is_rebuilt_without_a_deleted_archived_message(alice: Visit, script: Script) -> None:
    alice.allow("htmx:afterRequest", "htmx:sendAbort")
    page = alice.open(alice.chat(*TALK, folded_through=3, summary=TOLD))
    button(page, "Show archived messages").click()
    archived = page.locator("#archived article")
    expect(archived).to_have_count(4)
    script.summary = reply(ANEW)

    button(ask_to_delete(page, archived.first), "Delete this message").click()
    expect(archived.first).to_contain_text("2 messages deleted")
    expect(page.get_by_text("may still speak of a deleted message")).to_be_visible()
    button(page, "Rebuild the summary").click()
    expect(page.get_by_text("may still speak of a deleted message")).to_have_count(0)
    button(page, "Read summary").click()
    expect(page.locator("#summary-text")).to_have_text(ANEW)
    say(page, "And now?")

    assert CANARY not in json.dumps(script.endpoint.payloads[-1])
    assert CANARY not in page.content()


def test_j2_undo_of_the_deletion_takes_the_offer_away(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK, folded_through=3, summary=TOLD))
    button(page, "Show archived messages").click()
    archived = page.locator("#archived article")
    button(ask_to_delete(page, archived.first), "Delete this message").click()
    expect(button(page, "Rebuild the summary")).to_be_visible()

    button(archived.first, "Undo").click()

    expect(button(page, "Rebuild the summary")).to_have_count(0)
    expect(archived.first).to_contain_text(CANARY)


def test_j2_without_javascript_it_is_asked_on_a_page_of_its_own(visit: Callable[..., Visit]) -> None:
    alice = visit(java_script_enabled=False)
    path = alice.chat(*TALK, folded_through=3, summary=TOLD)
    page = alice.open(f"{path}?archived=1")
    first = page.locator("#archived article").first
    first.get_by_label("More about this message").click()
    first.get_by_role("link", name="Delete", exact=True).click()

    expect(page.get_by_role("heading", name="Delete this message?")).to_be_visible()
    button(page, "Delete this message").click()

    expect(button(page, "Rebuild the summary")).to_be_visible()
    page.goto(f"{path}?archived=1")
    button(page.locator("#archived article").first, "Undo").click()
    expect(button(page, "Rebuild the summary")).to_have_count(0)
