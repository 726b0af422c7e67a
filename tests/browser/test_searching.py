"""Finding in the browser: as one types, on its page, by the palette; a hit opens the fold that it lies in."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import Visit, button
from tests.browser.pictures import FOLDER, SIZES, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]

PEBBLES = ["Where are the pebbles?", "On the beach.", "And the shells?", "In the jar.", "Thanks.", "Gladly."]


def field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search your chats")


def palette(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Jump to a chat, or search")


def test_k1_hit_in_archived_text_opens_the_fold(alice: Visit) -> None:
    path = alice.chat(*PEBBLES, folded_through=3)
    page = alice.open("/")
    field(page).press_sequentially("pebb")
    hit = page.locator("#found").get_by_role("link", name=re.compile("pebbles"))
    expect(hit).to_contain_text("folded")
    expect(page.locator("#sidebar-chats")).to_be_hidden()
    take_pictures(page, "search-field")
    hit.click()

    page.wait_for_url(re.compile(f"{path}.*#m-0$"))
    expect(page.locator("#archived")).to_be_visible()
    expect(page.locator("#m-0")).to_be_in_viewport()
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["pebb"]
    take_pictures(page, "search-opened")


def test_field_on_a_phone(visit: Callable[..., Visit]) -> None:
    phone = visit(viewport=SIZES["phone"])
    phone.chat(*PEBBLES, folded_through=3)
    page = phone.open("/")
    page.get_by_role("button", name="Chats", exact=True).click()
    field(page).fill("pebbles or not")
    expect(page.locator("#found")).to_contain_text("Nothing found")
    field(page).fill("pebbles")
    expect(page.locator("#found mark")).to_be_visible()
    page.screenshot(path=FOLDER / "search-field-on-phone.png")


def test_renamed_chat_is_found_by_its_new_title(alice: Visit) -> None:
    page = alice.open(alice.chat(*PEBBLES))
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Title").fill("Seaside")
    page.get_by_label("Title").press("Enter")
    expect(page.locator("#title")).to_have_text("Seaside")

    field(page).press_sequentially("seas")
    expect(page.locator("#found mark")).to_have_text("Seaside")
    field(page).fill("")
    expect(page.locator("#sidebar-chats")).to_be_visible()


def test_hit_in_a_summary_opens_it(alice: Visit) -> None:
    alice.chat(*PEBBLES, folded_through=3, summary="They spoke about driftwood, at some length and with pleasure.")
    page = alice.open("/search/?q=driftwood")
    take_pictures(page, "search-page")
    page.get_by_role("link", name=re.compile("driftwood")).click()

    expect(page.locator("#summary")).to_be_visible()
    expect(page.locator("#summary-text")).to_be_in_viewport()


def test_search_works_without_javascript(visit: Callable[..., Visit]) -> None:
    plain = visit(java_script_enabled=False)
    path = plain.chat(*PEBBLES, folded_through=3)
    page = plain.open("/")
    field(page).fill("pebbles")
    field(page).press("Enter")
    page.get_by_role("link", name=re.compile("pebbles")).click()

    page.wait_for_url(re.compile(f"{path}.*#m-0$"))
    expect(page.locator("#m-0")).to_be_visible()


def test_palette_jumps_by_keyboard_alone(alice: Visit) -> None:
    first, second = alice.chat("One"), alice.chat("Two")
    page = alice.open(first)
    page.keyboard.press("Control+k")
    expect(palette(page)).to_be_focused()
    links = page.locator("#palette-chats a")
    expect(links).to_have_count(2)
    take_pictures(page, "search-palette")
    page.keyboard.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(palette(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()

    page.keyboard.press("Control+k")
    page.keyboard.type("chat")
    expect(links).to_have_count(3)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(second))


def test_palette_offers_the_search_and_leaves_an_input_method_alone(alice: Visit) -> None:
    alice.chat(*PEBBLES)
    page = alice.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("pebbles")
    offer = page.get_by_role("link", name=re.compile("Search everywhere"))
    expect(offer).to_be_visible()
    palette(page).dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
    palette(page).dispatch_event("keydown", {"key": "ArrowDown", "keyCode": 229, "bubbles": True})
    expect(palette(page)).to_be_focused()
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(r"/search/\?q=pebbles"))
    expect(page.locator(".hit mark")).to_have_text("pebbles")
    expect(button(page, "Search")).to_be_visible()
