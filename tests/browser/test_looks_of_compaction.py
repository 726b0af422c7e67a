"""What is seen of compaction, in pictures to look at and in what must hold in each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from chatapp.models import Chat, Compaction, UsageRecord
from tests.browser.acting import Visit, box, button
from tests.browser.pictures import SIZES, take_pictures

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


def figures(path: str) -> None:
    """Figures as a few weeks leave them behind."""
    chat = Chat.objects.get(pk=path.split("/")[2])
    facts = {"chat": chat, "trigger": "idle", "ended_at": timezone.now(), "calls": 1}
    for days, model in ((1, "qwen3-14b"), (2, "qwen3-14b"), (12, "gemma-3-27b"), (70, "gemma-3-27b")):
        row = Compaction.objects.create(
            **facts,
            status="applied",
            mode="continuation",
            model_name=model,
            tokens_before=6912,
            tokens_after=1784,
            prompt_tokens=7100,
            completion_tokens=240,
            cached_tokens=6500,
            values_found=41,
            values_kept=35,
            values_added=6,
        )
        Compaction.objects.filter(pk=row.pk).update(started_at=timezone.now() - timedelta(days=days))
        UsageRecord.objects.create(kind="compaction", model_name=model, prompt_tokens=7100, measured=True)
    Compaction.objects.create(**facts, status="refused", reason="not_smaller", model_name="gemma-3-27b")


def test_k5_figures_and_ledger_fit_a_phone(visit: Callable[..., Visit]) -> None:
    sam = visit(is_staff=True)
    sam.rows(figures, sam.chat("Hello", "Hello."))
    for name in ("compaction", "usagerecord"):
        page = sam.open(f"/admin/chatapp/{name}/")
        expect(page.locator(".figures")).to_be_visible()
        take_pictures(page, f"admin-{name}")
        page.set_viewport_size(SIZES["phone"])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_i6_upcoming_and_the_amber_meter_are_seen(visit: Callable[..., Visit]) -> None:
    alice = visit()
    page = alice.open(alice.chat(*[f"{number}: {BREAD}{BREAD}" for number in range(24)]))
    expect(page.locator("[data-state=upcoming]")).to_contain_text("Your next message will fold earlier turns first.")
    expect(page.locator("[data-meter]")).to_contain_text("folds with the next message")
    take_pictures(page, "upcoming")


def test_k1_details_are_seen(visit: Callable[..., Visit]) -> None:
    alice = visit()
    page = alice.open(alice.chat(*["First of all", "Indeed."] * 4, folded_through=5, summary=SUMMARY))
    button(page, "Details").click()
    expect(page.locator("#fold-details")).to_contain_text("6 folded")
    take_pictures(page, "details")
    expect(page.locator("#fold-details")).to_be_visible()


def test_k4_number_follows_the_text_at_every_key(visit: Callable[..., Visit]) -> None:
    alice = visit()
    page = alice.open(alice.chat("Hello", "Hello."))
    meter = page.locator("[data-meter]")
    before = int(meter.get_attribute("data-used") or 0)
    page.route("**/meter/", lambda route: None)  # the server's figure never comes
    box(page).press_sequentially("word " * 8)

    expect(page.locator("[data-meter-used]")).to_have_text(f"≈ {before + 10}")
    page.unroute("**/meter/")
    box(page).press_sequentially("more")
    expect(meter).not_to_have_attribute("data-pending", "0")
