"""The settings of a chat, by clicks: in the sheet, before the first message, and where no script runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from chatapp.models import Chat
from tests.browser.acting import Script, Visit, box, button, say
from tests.browser.pictures import take_pictures
from tests.browser.test_looks import overflow, violations

pytestmark = [pytest.mark.browser, pytest.mark.server]


def open_settings(page: Page) -> Locator:
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Settings of this chat").click()
    sheet = page.locator("#sheet")
    expect(sheet).to_be_visible()
    return sheet


def field(place: Locator | Page, name: str) -> Locator:
    return place.get_by_label(re.compile(f"^{name}"))


def stored(visit: Visit, path: str) -> Chat:
    return visit.rows(Chat.objects.get, pk=path.strip("/").split("/")[-1])


def test_saved_settings_close_the_sheet_and_every_tab_shows_the_new_meter(alice: Visit) -> None:
    path = alice.chat("Hello", "Hi there.")
    page, other = alice.open(path), alice.open(path)
    before = other.locator("[data-meter]").get_attribute("data-used")
    sheet = open_settings(page)

    field(sheet, "System prompt").fill("Answer as a baker would.\n" * 40)
    field(sheet, "Temperature").fill("0.4")
    button(sheet, "Save").click()

    expect(sheet).to_be_hidden()
    expect(other.locator("[data-meter]")).not_to_have_attribute("data-used", before or "")
    shown = page.locator("[data-meter]").get_attribute("data-used")
    assert shown == other.locator("[data-meter]").get_attribute("data-used")
    assert stored(alice, path).parameters == {"temperature": 0.4}
    expect(field(open_settings(page), "Temperature")).to_have_value("0.4")


def test_bad_value_is_told_in_the_sheet_and_what_was_typed_stays(alice: Visit) -> None:
    alice.allow("422")
    path = alice.chat("Hello", "Hi there.")
    page = alice.open(path)
    sheet = open_settings(page)

    field(sheet, "System prompt").fill("Be kind.")
    field(sheet, "Temperature").fill("hot")
    button(sheet, "Save").click()

    expect(sheet.get_by_text("Enter a number.")).to_be_visible()
    expect(field(sheet, "Temperature")).to_have_value("hot")
    expect(field(sheet, "Temperature")).to_have_attribute("aria-invalid", "true")
    expect(field(sheet, "System prompt")).to_have_value("Be kind.")
    expect(page.locator("#composer-error")).to_be_empty()
    assert violations(page) == []
    take_pictures(page, "settings-refused")
    field(sheet, "Temperature").fill("1")
    button(sheet, "Save").click()
    expect(sheet).to_be_hidden()
    assert stored(alice, path).parameters == {"temperature": 1.0}


def test_new_chat_begins_with_what_was_set(alice: Visit, script: Script) -> None:
    alice.allow("422")
    page = alice.open("/")
    page.locator("#new-settings > summary").click()
    field(page, "System prompt").fill("Be kind.\n")
    field(page, "Seed").fill("x")
    say_nothing_yet(page, "Hello")

    expect(page.get_by_text("Enter a whole number.")).to_be_visible()
    expect(page.locator("#composer-error")).to_contain_text("A setting of this chat can’t be used")
    expect(box(page)).to_have_value("Hello")
    assert violations(page) == []
    take_pictures(page, "settings-new-refused")
    field(page, "Seed").fill("7")
    say(page, "Hello")

    chat = stored(alice, page.url)
    assert (chat.system_prompt, chat.parameters) == ("Be kind.\n", {"seed": 7})


def say_nothing_yet(page: Page, words: str) -> None:
    box(page).fill(words)
    button(page, "Send").click()


def test_meter_of_a_new_chat_follows_its_system_prompt(alice: Visit) -> None:
    page = alice.open("/")
    before = page.locator("[data-meter]").get_attribute("data-used")
    page.locator("#new-settings > summary").click()

    field(page, "System prompt").fill("Be kind. " * 50)
    field(page, "System prompt").press("Tab")

    expect(page.locator("[data-meter]")).not_to_have_attribute("data-used", before or "")
    page.keyboard.press("Escape")
    expect(field(page, "System prompt")).to_be_hidden()


def test_settings_work_without_javascript(visit: Callable[..., Visit]) -> None:
    plain = visit(java_script_enabled=False)
    plain.allow("422")
    page = plain.open("/")
    page.locator("#new-settings > summary").click()
    field(page, "Temperature").fill("3")
    say_nothing_yet(page, "Hello")
    expect(field(page, "Temperature")).to_have_value("3")
    expect(box(page)).to_have_value("Hello")
    field(page, "Temperature").fill("0.3")
    button(page, "Send").click()
    page.wait_for_url(re.compile("/chats/.+"))

    path = page.url
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Settings of this chat").click()
    expect(field(page, "Temperature")).to_have_value("0.3")
    field(page, "Longest reply").fill("0")
    button(page, "Save").click()
    expect(page.get_by_text("greater than or equal to 1")).to_be_visible()
    field(page, "Longest reply").fill("40")
    button(page, "Save").click()
    page.wait_for_url(path)
    assert stored(plain, path).parameters == {"temperature": 0.3, "max_tokens": 40}


def test_settings_look_right(visit: Callable[..., Visit]) -> None:
    sam = visit(is_staff=True)
    page = sam.open(sam.chat("Hello", "Hi there.", "And rye?", "Rye wants more water."))
    open_settings(page)
    assert violations(page) == []
    take_pictures(page, "settings")
    page.set_viewport_size({"width": 390, "height": 780})
    assert overflow(page) <= 0
    home = sam.open("/")
    home.locator("#new-settings > summary").click()
    assert violations(home) == []
    take_pictures(home, "settings-new")
    home.set_viewport_size({"width": 390, "height": 780})
    assert overflow(home) <= 0
    alone = sam.open(page.url + "settings/")
    assert violations(alone) == []
    take_pictures(alone, "settings-page")
