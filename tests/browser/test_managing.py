"""What one does with chats as a whole, and with the versions of a reply."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from chatapp.models import Chat
from tests.browser.acting import Script, Visit, box, button, ended, last, messages, prose, say
from tests.scripted import reply

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


def test_rename_and_delete_are_reached_from_the_chat(chat: Page) -> None:
    chat.get_by_label("More about this chat").click()
    chat.get_by_role("link", name="Rename").click()
    chat.get_by_label("Title").fill("Bread in winter")
    button(chat, "Rename").click()
    expect(chat.get_by_role("heading", level=1)).to_have_text("Bread in winter")
    expect(chat.get_by_role("navigation").get_by_role("link", name="Bread in winter")).to_be_visible()

    chat.get_by_label("More about this chat").click()
    chat.get_by_role("link", name="Delete").click()
    expect(chat.get_by_role("heading", name="Delete this chat?")).to_be_visible()
    chat.get_by_role("link", name="Cancel").click()
    expect(messages(chat)).to_have_count(2)
    chat.get_by_label("More about this chat").click()
    chat.get_by_role("link", name="Delete").click()
    button(chat, "Delete").click()

    expect(chat).to_have_url("/")
    expect(chat.get_by_text("Bread in winter")).to_have_count(0)


def test_regenerate_makes_a_version_and_the_arrows_go_between(chat: Page, script: Script) -> None:
    script.will(reply("The first way."), reply("The second way."))
    say(chat, "Say it")
    button(last(chat), "Regenerate").click()
    expect(prose(last(chat))).to_have_text("The second way.")
    expect(last(chat)).to_contain_text("2 / 2")

    button(last(chat), "Previous version").click()

    expect(prose(last(chat))).to_have_text("The first way.")
    expect(last(chat)).to_contain_text("1 / 2")
    chat.reload()
    expect(prose(last(chat))).to_have_text("The first way.")
    button(last(chat), "Next version").click()
    expect(prose(last(chat))).to_have_text("The second way.")
    expect(messages(chat)).to_have_count(4)


def test_model_picker_chooses_who_answers(chat: Page, script: Script) -> None:
    with chat.expect_response("**/model/"):
        chat.get_by_role("combobox", name="Model").select_option("other")
    say(chat, "Who are you?")

    assert script.endpoint.payloads[-1]["model"] == "other"
    chat.reload()
    expect(chat.get_by_role("combobox", name="Model").locator("option:checked")).to_have_text("other")


def test_new_chat_begins_with_the_model_that_was_picked(page: Page, script: Script) -> None:
    page.get_by_role("combobox", name="Model").select_option("other")
    say(page, "Who are you?")

    assert script.endpoint.payloads[-1]["model"] == "other"


def test_sidebar_lists_chats_by_day(alice: Visit) -> None:
    for days in (0, 1, 3, 90):
        path = alice.chat("Hello", "Hello to you.")
        touched = timezone.now() - timedelta(days=days)
        facts = {"title": f"{days} days ago", "touched_at": touched}
        alice.rows(lambda path=path, facts=facts: Chat.objects.filter(pk=path.split("/")[2]).update(**facts))

    page = alice.open("/")

    labels = page.get_by_role("navigation").get_by_role("heading").all_inner_texts()
    assert labels[:3] == ["Today", "Yesterday", "Previous 7 days"]
    assert len(labels) == 4
    names = page.locator("[data-chat-link]").all_inner_texts()
    assert names == [f"{days} days ago" for days in (0, 1, 3, 90)]


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_copy_takes_the_source_of_a_reply(alice: Visit, *, has_clipboard: bool) -> None:
    """Without https a browser has no navigator.clipboard."""
    alice.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = alice.open("/")
    if not has_clipboard:
        page.add_init_script(
            "window.real = navigator.clipboard; Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        )
    page.goto(alice.chat("Hello", "Some **bold** words\n\n```python\nprint('hi')\n```"))

    button(last(page).locator(".actions"), "Copy").click()
    expect(last(page).get_by_role("button", name="Copied")).to_be_visible()
    read = "navigator.clipboard.readText()" if has_clipboard else "window.real.readText()"
    assert page.evaluate(read) == "Some **bold** words\n\n```python\nprint('hi')\n```"
    button(last(page).locator(".code-bar"), "Copy").click()
    page.wait_for_function(f"async () => await {read} === \"print('hi')\\n\"")


def test_whole_turn_by_keyboard_alone(chat: Page) -> None:
    chat.keyboard.press("Tab")
    expect(chat.get_by_role("link", name="Skip to the message box")).to_be_focused()
    chat.keyboard.press("Enter")
    expect(box(chat)).to_be_focused()
    chat.keyboard.type("By hand")
    chat.keyboard.press("Enter")
    ended(chat, count=4)
    expect(box(chat)).to_be_focused()

    tab_to(chat, "More about this chat")
    chat.keyboard.press("Enter")
    expect(chat.get_by_role("link", name="Rename")).to_be_visible()
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("link", name="Rename")).to_be_hidden()
    tab_to(chat, "Regenerate")
    chat.keyboard.press("Enter")
    expect(last(chat)).to_contain_text("2 / 2")
    chat.keyboard.press("Control+j")
    expect(chat).to_have_url("/")


def tab_to(page: Page, name: str) -> None:
    """Tabs until something of that name has the focus; every stop on the way has a visible outline."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => { const { activeElement: at } = document; const style = getComputedStyle(at);
                const isShown = style.outlineStyle !== "none" || style.boxShadow !== "none";
                return [at.ariaLabel || at.textContent.trim(), isShown || at.matches("textarea, body, #scroll")]; }"""
        )
        assert focused[1], f"the focus on {focused[0]!r} can't be seen"
        if focused[0] == name:
            return
    raise AssertionError(f"{name} was not reached")
