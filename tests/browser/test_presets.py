"""Presets in the box: found after a "/", chosen with the arrow keys, put in by Enter, left alone by an input method."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from chatapp.models import Preset
from tests.browser.acting import Visit, box, button, ended
from tests.browser.pictures import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    def keep() -> None:
        owner = User.objects.get(username=alice.name)
        for name, text in (("Brief", "Be brief."), ("Baker", "You are a baker.\nSpeak of bread."), ("Zest", "Zest!")):
            Preset.objects.create(owner=owner, name=name, text=text)

    alice.rows(keep)
    return alice.open(alice.chat("Hello", "Hello to you."))


def offered(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Presets", include_hidden=True)


def test_slash_finds_and_enter_puts_one_in_without_sending(chat: Page) -> None:
    box(chat).press_sequentially("/b")
    options = offered(chat).get_by_role("option")
    expect(options).to_have_count(2)
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    expect(chat.locator("#presets-status")).to_contain_text("2 presets")
    box(chat).press("ArrowDown")
    box(chat).press("ArrowDown")
    box(chat).press("ArrowUp")
    chosen = options.nth(1)
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(box(chat)).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "-")
    take_pictures(chat, "presets")

    box(chat).press("Enter")

    expect(box(chat)).to_have_value("Be brief.")
    expect(options).to_have_count(0)
    expect(box(chat)).to_be_focused()
    expect(chat.locator("#log > article")).to_have_count(2)


def test_escape_leaves_the_slash_and_enter_then_sends_it(chat: Page) -> None:
    box(chat).press_sequentially("/b")
    expect(offered(chat).get_by_role("option").first).to_be_visible()

    box(chat).press("Escape")
    box(chat).press_sequentially("in/ls")
    expect(offered(chat).get_by_role("option")).to_have_count(0)
    box(chat).press("Enter")

    ended(chat, count=4)
    expect(chat.locator("#log > article").nth(2)).to_contain_text("/bin/ls")


def test_a_slash_behind_other_words_offers_nothing(chat: Page) -> None:
    box(chat).press_sequentially("and/or")

    expect(offered(chat).get_by_role("option")).to_have_count(0)


def test_input_method_keeps_its_enter(chat: Page) -> None:
    box(chat).press_sequentially("/b")
    expect(offered(chat).get_by_role("option").first).to_be_visible()
    box(chat).evaluate(
        """box => box.dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true })
        )"""
    )

    expect(box(chat)).to_have_value("/b")


def test_button_puts_one_in_where_the_cursor_is(chat: Page) -> None:
    box(chat).fill("First.  Last.")
    box(chat).evaluate("box => box.setSelectionRange(7, 7)")
    chat.get_by_role("link", name="Presets", exact=True).click()
    expect(box(chat)).to_be_focused()

    offered(chat).get_by_role("option", name="Zest").click()

    expect(box(chat)).to_have_value("First. Zest! Last.")


def test_settings_take_one_as_the_system_prompt(chat: Page) -> None:
    chat.get_by_label("More about this chat").click()
    chat.get_by_role("link", name="Settings of this chat").click()
    chat.get_by_text("Take it from a preset").click()
    button(chat, "Baker").click()

    prompt = chat.get_by_role("textbox", name="System prompt")
    expect(prompt).to_have_value("You are a baker.\nSpeak of bread.")
    button(chat, "Save").click()
    expect(chat.locator("#sheet")).to_be_hidden()
