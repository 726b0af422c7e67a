"""Finding in the browser: as one types, on its page, by the palette; a hit opens the fold that it lies in."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import Visit, button
from tests.browser.pictures import SIZES, take_picture, take_pictures

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
    take_picture(page, "search-field-on-phone")


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


# Find in this chat

TALK = [f"{number}: " + ("a pebble lies here " if number % 30 == 0 else "sand ") * 8 for number in range(120)]


def find_box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Find in this chat")


def marked(page: Page) -> list[str]:
    return page.evaluate("[...CSS.highlights.get('found') || []].map(String)")


def test_find_goes_through_folded_and_unloaded_hits_by_keyboard(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK, folded_through=39))
    page.keyboard.press("Control+Shift+f")
    expect(find_box(page)).to_be_focused()
    page.keyboard.type("Pébble")
    hits = page.locator("#find-hits")
    expect(hits).to_contain_text("4 of 4")
    assert marked(page) == ["pebble"] * 8
    expect(page.locator("#m-0")).to_have_count(0)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#m-0$"))
    expect(hits).to_contain_text("1 of 4")
    expect(page.locator("#archived")).to_be_visible()
    expect(page.locator("#m-0")).to_be_in_viewport()
    assert marked(page) == ["pebble"] * 8
    expect(find_box(page)).to_be_focused()
    take_pictures(page, "find-folded")
    page.keyboard.press("Enter")
    expect(hits).to_contain_text("2 of 4")
    expect(page.locator("#m-30")).to_be_in_viewport()
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(hits).to_contain_text("4 of 4")
    expect(page.locator("#m-90")).to_be_in_viewport()
    page.get_by_role("link", name="Previous", exact=True).click()
    expect(hits).to_contain_text("3 of 4")
    expect(page.locator("#m-60")).to_be_in_viewport()
    find_box(page).press("Escape")

    expect(page.locator("#find")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    assert marked(page) == []


def test_find_works_without_javascript(visit: Callable[..., Visit]) -> None:
    plain = visit(java_script_enabled=False)
    page = plain.open(plain.chat(*TALK, folded_through=39))
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Find in this chat").click()
    find_box(page).fill("pebble")
    find_box(page).press("Enter")
    expect(page.locator("#find-hits")).to_contain_text("1 of 4")
    page.get_by_role("link", name="Next", exact=True).click()

    expect(page.locator("#find-hits")).to_contain_text("2 of 4")
    expect(page.locator("#m-30")).to_be_visible()


def test_palette_presses_what_the_page_has_a_button_for(alice: Visit) -> None:
    page = alice.open(alice.chat(*PEBBLES))
    page.keyboard.press("Control+k")
    commands = page.locator("#palette-commands button")
    expect(commands.filter(has_text="Compact now")).to_be_visible()
    page.keyboard.type("set")
    expect(commands).to_have_text(["Settings of this chat"])
    take_pictures(page, "palette-commands")
    page.keyboard.press("Enter")
    expect(page.locator("#sheet")).to_contain_text("System prompt")
    page.keyboard.press("Escape")

    page.keyboard.press("Control+k")
    page.keyboard.type("pin this")
    expect(commands).to_have_text(["Pin this chat"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#pinned-chats")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("find in")
    page.keyboard.press("Enter")
    expect(find_box(page)).to_be_focused()
