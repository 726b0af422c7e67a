"""Keeping chats in order in the browser: by menu, keyboard and dragging, many at once, live, and without a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from chatapp.models import Chat
from tests.browser.acting import Script, Visit, box, button, say
from tests.browser.pictures import SIZES, take_picture, take_pictures
from tests.scripted import reply

pytestmark = [pytest.mark.browser, pytest.mark.server]


def named(visit: Visit, title: str, *, days: int = 0, **facts: object) -> str:
    """The path of a chat of that title."""
    path = visit.chat("Hello", "Hello to you.")
    facts |= {"title": title, "touched_at": timezone.now() - timedelta(days=days)}
    visit.rows(lambda: Chat.objects.filter(pk=path.split("/")[2]).update(**facts))
    return path


def row(page: Page, title: str) -> Locator:
    return page.locator("#list li", has_text=title)


def open_menu(page: Page, title: str) -> Locator:
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Pin, archive, move").click()
    expect(page.locator("#order")).to_be_visible()
    return page.locator("#order")


def heading_over(page: Page, title: str) -> str:
    """The heading under which the chat stands."""
    return row(page, title).evaluate(
        """row => { let at = row.closest("ul"); while (at && !at.matches("h2, section")) at = at.previousElementSibling
            || at.parentElement; return (at.matches("h2") ? at : at.querySelector("h2")).innerText.trim(); }"""
    )


def test_chat_is_pinned_archived_filed_and_tagged_by_its_menu(alice: Visit) -> None:
    for days, title in enumerate(("Winter bread", "Rye", "Stones")):
        named(alice, title, days=days * 20)
    page = alice.open(named(alice, "Open one"))
    page.get_by_text("New folder").click()
    page.get_by_label("Name").fill("Kitchen")
    button(page, "Make").click()
    expect(page.get_by_role("button", name="Kitchen", exact=True)).to_be_visible()

    button(open_menu(page, "Winter bread"), "Pin").click()
    expect(page.locator("#pinned-chats")).to_contain_text("Winter bread")
    menu = open_menu(page, "Rye")
    button(menu, "Kitchen").click()
    expect(page.locator(".listed-folder")).to_contain_text("Rye")
    menu = open_menu(page, "Rye")
    menu.get_by_label("New tag").fill("flour")
    menu.get_by_label("New tag").press("Enter")
    expect(row(page, "Rye").get_by_role("link", name="flour")).to_be_visible()
    open_menu(page, "Winter bread")
    take_pictures(page, "order-menu")
    page.keyboard.press("Escape")
    take_pictures(page, "order-list")

    row(page, "Rye").get_by_role("link", name="flour").click()
    expect(page.locator("#list li")).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    button(open_menu(page, "Stones"), "Archive").click()
    expect(row(page, "Stones")).to_have_count(0)
    page.get_by_role("link", name="Archive", exact=True).click()
    take_pictures(page, "order-archived")
    button(page, "Bring it back").click()
    expect(page.get_by_text("Nothing is archived")).to_be_visible()


def test_chat_is_dragged_into_a_folder_and_out(alice: Visit) -> None:
    named(alice, "Rye")
    page = alice.open("/")
    page.get_by_text("New folder").click()
    page.get_by_label("Name").fill("Kitchen")
    page.get_by_label("Name").press("Enter")
    folder = page.locator(".listed-folder")
    expect(folder).to_contain_text("No chats here yet.")

    row(page, "Rye").get_by_role("link").first.drag_to(folder)
    expect(folder).to_contain_text("Rye")
    button(page, "Kitchen").click()
    expect(row(page, "Rye")).to_have_count(0)
    page.reload()
    expect(button(page, "Kitchen")).to_have_attribute("aria-expanded", "false")
    button(page, "Kitchen").click()
    named(alice, "Another")
    page.reload()
    row(page, "Rye").get_by_role("link").first.drag_to(page.locator("#chats-by-day"))

    expect(folder).to_contain_text("No chats here yet.")
    assert heading_over(page, "Rye") == "Today"


def test_menu_works_by_keyboard_alone_and_keeps_the_focus(alice: Visit) -> None:
    named(alice, "Rye")
    named(alice, "Wheat")
    page = alice.open("/")
    more = row(page, "Rye").get_by_role("button", name="Pin, archive, move")
    more.focus()
    page.keyboard.press("Space")
    expect(button(page.locator("#order"), "Pin")).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(page.locator("#order"), "Pin")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#pinned-chats")).to_contain_text("Rye")
    expect(more).to_be_focused()


def test_focus_is_at_the_row_also_where_the_list_is_faster_than_the_answer(alice: Visit) -> None:
    named(alice, "Rye")
    page = alice.open("/")
    held: list[Route] = []
    page.route("**/pin/", lambda route: held.append(route))  # noqa: PLW0108 (Playwright asks a function for its name)
    row(page, "Rye").get_by_role("button", name="Pin, archive, move").press("Space")
    with page.expect_request("**/pin/"):
        button(page.locator("#order"), "Pin").press("Enter")
    answer = held[0].fetch()
    expect(page.locator("#pinned-chats")).to_contain_text("Rye")

    held[0].fulfill(response=answer)

    expect(page.locator("#order")).to_be_hidden()
    expect(row(page, "Rye").get_by_role("button", name="Pin, archive, move")).to_be_focused()


def test_many_are_selected_and_deleted_after_a_question(alice: Visit) -> None:
    for title in ("Rye", "Wheat", "Spelt"):
        named(alice, title)
    page = alice.open("/")
    page.get_by_role("link", name="Select", exact=True).click()
    page.get_by_role("checkbox", name="Rye").check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    take_pictures(page, "order-select")
    button(page, "Archive").click()
    expect(row(page, "Rye")).to_have_count(0)
    button(page, "All shown").click()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.locator("#many").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Delete 2 chats?")).to_be_visible()
    button(page, "Delete 2 chats").click()

    expect(page.get_by_text("Your chats will be listed here.")).to_be_visible()


def test_other_page_sees_a_reply_begin_and_end_and_what_is_unread(alice: Visit, script: Script) -> None:
    first, second = named(alice, "First"), named(alice, "Second")
    home, writing = alice.open("/"), alice.open(first)
    script.title = reply("First")
    gate = script.will_hold("Once")
    box(writing).fill("Tell me")
    button(writing, "Send").click()
    dot = home.get_by_role("img", name="a reply is being written")
    expect(row(home, "First").locator(dot)).to_be_visible()
    writing.goto(second)
    expect(row(writing, "First").locator(".dot")).to_be_visible()
    take_pictures(writing, "order-dot")
    gate.set()

    for page in (home, writing):
        expect(row(page, "First")).to_have_class(re.compile("unread"))
        expect(page.locator("#list .dot")).to_have_count(0)
    take_pictures(writing, "order-unread")
    row(home, "First").get_by_role("link").first.click()
    expect(home.locator("#title")).to_have_text("First")
    expect(row(writing, "First")).not_to_have_class(re.compile("unread"))


def test_temporary_chat_says_so_and_is_kept(page: Page) -> None:
    page.get_by_role("checkbox", name=re.compile("Temporary chat")).check()
    take_pictures(page, "order-new-temporary")
    say(page, "Between us")
    expect(page.locator("#standing")).to_contain_text("Temporary chat, deleted in 24 hours")
    expect(page.locator("#list li").first).to_contain_text("temporary")
    take_pictures(page, "order-temporary")

    button(page, "Keep this chat").click()

    expect(page.locator("#standing")).not_to_contain_text("Temporary")
    expect(page.locator("#list li").first).not_to_contain_text("temporary")


def test_typing_in_the_search_field_leaves_the_word_under_the_box(page: Page, alice: Visit) -> None:
    alice.allow("status of 422")
    page.get_by_text("New folder").click()
    page.get_by_label("Name").fill(" ")
    button(page, "Make").click()
    error = page.locator("#composer-error")
    expect(error).to_contain_text("A folder needs a name.")
    with page.expect_response(re.compile(r"/search/\?q=bread")):
        page.get_by_role("searchbox", name="Search your chats").fill("bread")

    expect(error).to_contain_text("A folder needs a name.")


def test_long_list_grows_as_one_scrolls_and_stays_when_it_is_fetched_anew(alice: Visit) -> None:
    for number in range(70):
        named(alice, f"chat {number:02}", days=number)
    page = alice.open("/")
    expect(page.locator("#list li")).to_have_count(60)
    page.locator("#list .older-chats").scroll_into_view_if_needed()
    expect(page.locator("#list li")).to_have_count(70)

    button(open_menu(page, "chat 69"), "Pin").click()

    expect(page.locator("#pinned-chats")).to_contain_text("chat 69")
    expect(page.locator("#list li")).to_have_count(70)


def test_list_is_kept_in_order_without_javascript(visit: Callable[..., Visit]) -> None:
    plain = visit(java_script_enabled=False)
    named(plain, "Rye")
    page = plain.open("/")
    page.get_by_text("New folder").click()
    page.get_by_label("Name").fill("Kitchen")
    button(page, "Make").click()
    row(page, "Rye").get_by_role("button", name="Pin, archive, move").click()
    button(page, "Kitchen").click()
    page.goto("/")
    expect(page.locator(".listed-folder")).to_contain_text("Rye")
    button(page, "Kitchen").click()
    expect(row(page, "Rye")).to_have_count(0)
    button(page, "Kitchen").click()
    page.get_by_role("link", name="Select", exact=True).click()
    page.get_by_role("checkbox", name="Rye").check()
    page.get_by_label("Tag", exact=True).fill("flour")
    button(page, "Add tag").click()

    expect(row(page, "Rye").get_by_role("link", name="flour")).to_be_visible()


def test_menu_on_a_phone(visit: Callable[..., Visit]) -> None:
    phone = visit(viewport=SIZES["phone"], has_touch=True, is_mobile=True)
    named(phone, "Rye")
    page = phone.open("/")
    button(page, "Chats").tap()
    row(page, "Rye").get_by_role("button", name="Pin, archive, move").tap()
    expect(button(page.locator("#order"), "Pin")).to_be_in_viewport()
    take_picture(page, "order-phone-menu")
    assert page.evaluate("document.scrollingElement.scrollWidth - screen.width") <= 0
