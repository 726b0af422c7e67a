"""What is seen of compaction, in pictures to look at and in what must hold in each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from chatapp.models import Chat
from tests.browser.acting import Visit, box
from tests.browser.pictures import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]

BREAD = "Bread wants time, warmth and patience, and then some more of each. " * 12
TALK = [f"{number}: {BREAD}" for number in range(8)]
SUMMARY = """They spoke about bread at length; the dough wants warmth, time and patience.

Exact values:
- The oven at 10.0.0.7 answers on port 8443.
- Rye bread costs 4.80 EUR since 2026-11-02."""


def pinned(path: str) -> None:
    Chat.objects.get(pk=path.split("/")[2]).messages.filter(position__in=[1, 8]).update(pinned=True)


def test_k4_sheet_shows_what_is_typed_as_its_last_part(visit: Callable[..., Visit]) -> None:
    alice = visit()
    path = alice.chat("First of all", "Indeed.", *TALK, folded_through=5, summary=SUMMARY)
    alice.rows(pinned, path)
    page = alice.open(path)
    box(page).fill("And what about rye?")
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="What the model is sent").first.click()

    sheet = page.locator("#sheet")
    expect(sheet.locator("[data-part]").last).to_contain_text("You are typing")
    expect(sheet.locator("[data-part]").last).to_contain_text("And what about rye?")
    expect(sheet.locator("[data-part=values]")).to_contain_text("Exact values")
    expect(sheet).to_contain_text("6 earlier messages were folded at")
    take_pictures(page, "request-sheet")
    expect(box(page)).to_have_value("And what about rye?")
