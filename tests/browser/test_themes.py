"""Light, dark, or as the system has it: at once, from the first paint on, on every page, and without JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Visit, box, button
from tests.browser.pictures import take_picture

pytestmark = [pytest.mark.browser, pytest.mark.server]

DARK, LIGHT = "rgb(24, 26, 25)", "rgb(252, 250, 245)"


def ground(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_dark_is_chosen_over_a_light_system_at_once_and_stays(visit: Callable[..., Visit]) -> None:
    sam = visit(is_staff=True, color_scheme="light")
    page = sam.open(sam.chat("Hello", "Hello to you."))
    assert ground(page) == LIGHT
    box(page).fill("Half a thought")

    page.get_by_text("Display", exact=True).click()
    button(page, "Dark").click()

    expect(button(page, "Dark")).to_have_attribute("aria-pressed", "true")
    expect(button(page, "Dark")).to_be_focused()
    assert ground(page) == DARK
    expect(box(page)).to_have_value("Half a thought")
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { window.first = document.documentElement.dataset.theme })"
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"
    assert ground(page) == DARK
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light", "paper is white"
    page.emulate_media(media="screen")
    page.goto("/admin/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    take_picture(page, "admin-dark-by-choice")
    page.goto("/")
    page.get_by_text("Display", exact=True).click()
    button(page, "System").click()
    expect(button(page, "System")).to_have_attribute("aria-pressed", "true")
    assert ground(page) == LIGHT


def test_theme_is_chosen_by_a_form_where_there_is_no_javascript(visit: Callable[..., Visit]) -> None:
    stranger = visit(java_script_enabled=False, color_scheme="dark")
    stranger.context.clear_cookies(name="sessionid")
    page = stranger.open("/accounts/login/")

    button(page, "Light").click()

    expect(page).to_have_url("/accounts/login/")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_each_block_is_set_in_its_own_direction(alice: Visit) -> None:
    page = alice.open(alice.chat("مرحبا بالعالم\n\nHello", "مرحبا بالعالم\n\nHello\n\n- שלום"))
    way = "each => getComputedStyle(each).direction"

    for message in page.locator("#log > article").all():
        blocks = message.locator(".prose > p")
        assert [blocks.nth(0).evaluate(way), blocks.nth(1).evaluate(way)] == ["rtl", "ltr"]
    assert page.locator(".prose li").evaluate(way) == "rtl"
    box(page).fill("שלום")
    assert box(page).evaluate(way) == "rtl"
