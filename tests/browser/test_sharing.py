"""A chat is shared, read by another person, and taken back, by clicks."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.acting import Visit, button, messages

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_chat_is_shared_read_continued_and_revoked(alice: Visit, visit: Callable[..., Visit]) -> None:
    page = alice.open(alice.chat("Hello", "**Bread** wants time.", "More", "Here.", folded_through=1))
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Share", exact=True).click()
    expect(page.get_by_label("Anyone who has the link")).to_have_count(0)
    button(page, "Make a link").click()
    page.get_by_role("link", name="Copy link").click()
    expect(page.get_by_role("status")).to_have_text("Link copied")
    link = page.locator(".share-link a").get_attribute("href") or ""

    charlie = visit()
    read = charlie.open(link)
    expect(read.get_by_text("Bread wants time.")).to_be_visible()
    expect(read.get_by_role("button", name="Edit")).to_have_count(0)
    button(read, "Continue in my own chat").click()
    expect(messages(read)).to_have_count(4)

    button(page, "Revoke").click()
    expect(page.get_by_role("status").first).to_contain_text("no longer opens")
    charlie.allow("404")
    read.goto(link)
    expect(read.get_by_role("heading", name="There is nothing here")).to_be_visible()
