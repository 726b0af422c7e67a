"""Everything by keyboard: the keys, what Escape closes first, input methods, and where the focus is after each swap."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from chatapp.presenting import SHORTCUTS
from tests.browser.acting import Script, Visit, box, button, ended, last, messages, say, send
from tests.browser.pictures import take_picture, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


def out_of_the_boxes(page: Page) -> None:
    page.locator("#scroll").focus()


def field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search your chats")


def test_every_key_of_the_sheet_does_what_the_sheet_says(alice: Visit) -> None:
    alice.context.grant_permissions(["clipboard-read", "clipboard-write"])
    older = alice.chat("Elsewhere", "Quite.")
    newer = alice.chat("Hello", "Hello to you.")
    page = alice.open(older)
    tried: set[str] = set()

    def press(keys: str) -> None:
        tried.add(keys.lower().replace("control", "mod"))
        page.keyboard.press(keys)

    press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(page.locator("#keys dl > div")).to_have_count(len(SHORTCUTS))
    take_pictures(page, "keys")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    press("/")
    expect(field(page)).to_be_focused()
    press("Shift+Escape")
    expect(box(page)).to_be_focused()
    press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()
    press("Control+Shift+f")
    expect(page.locator("#find-q")).to_be_focused()
    page.keyboard.press("Escape")
    out_of_the_boxes(page)
    press("Alt+c")
    expect(page.locator("#status")).to_have_text("Copied")
    press("Alt+e")
    expect(page.get_by_role("textbox", name="Your message")).to_be_focused()
    page.keyboard.press("Escape")
    press("Alt+l")
    expect(page.locator("#sidebar")).to_be_hidden()
    page.reload()
    expect(page.locator("#sidebar")).to_be_hidden()
    page.keyboard.press("Alt+l")
    expect(page.locator("#sidebar")).to_be_visible()
    press("Alt+ArrowUp")
    page.wait_for_url(f"**{newer}")
    press("Alt+ArrowDown")
    page.wait_for_url(f"**{older}")
    press("Control+j")
    page.wait_for_url("/")

    tried.add("escape")  # below
    assert tried == {each.keys for each in SHORTCUTS if each.presses or each.tells}


def test_bare_keys_are_characters_where_one_types(chat: Page) -> None:
    box(chat).press_sequentially("? and /")

    expect(box(chat)).to_have_value("? and /")
    box(chat).press("Alt+ArrowUp")
    expect(chat.locator("#keys")).to_be_hidden()
    expect(box(chat)).to_have_value("? and /")


def test_escape_closes_innermost_first_and_then_stops_the_reply(chat: Page, script: Script) -> None:
    script.will_hold("Some words")
    send(chat, "Go on")
    expect(last(chat)).to_contain_text("Some words")
    menu = chat.locator(".head details.menu")
    menu.locator("summary").click()
    menu.get_by_role("link", name="Settings of this chat").click()
    expect(chat.locator("#sheet")).to_be_visible()

    chat.keyboard.press("Escape")
    expect(chat.locator("#sheet")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    menu.locator("summary").click()
    chat.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()
    messages(chat).nth(2).locator("[data-edit]").click()
    chat.get_by_role("textbox", name="Your message").press("Escape")
    expect(chat.locator("form[data-editor]")).to_have_count(0)
    field(chat).fill("hello")
    field(chat).press("Escape")
    expect(field(chat)).to_have_value("")
    expect(last(chat)).to_have_attribute("data-status", "streaming")

    box(chat).focus()
    chat.keyboard.press("Escape")

    ended(chat, count=4, status="stopped")


COMPOSING = """(place, keys) => keys.forEach((key) => [{ isComposing: true }, { keyCode: 229 }].forEach((facts) =>
    place.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...facts }))))"""


def test_keys_of_an_input_method_are_its_own_in_every_box(chat: Page, script: Script) -> None:
    script.will_hold("Some words")
    send(chat, "Go on")
    expect(last(chat)).to_contain_text("Some words")
    address = chat.url

    def compose(place: Locator) -> None:
        place.fill("にほん")
        place.evaluate(COMPOSING, ["Enter", "Escape", "ArrowDown", "ArrowUp", "/", "?", "PageUp"])
        expect(place).to_have_value("にほん")
        expect(place).to_be_focused()
        assert chat.url == address
        expect(messages(chat)).to_have_count(4)
        expect(last(chat)).to_have_attribute("data-status", "streaming")

    compose(box(chat))
    compose(field(chat))
    messages(chat).nth(2).locator("[data-edit]").click()
    compose(chat.get_by_role("textbox", name="Your message"))
    chat.get_by_label("Compact now, with a wish").click()
    compose(chat.locator("#instructions"))
    chat.keyboard.press("Escape")
    chat.keyboard.press("Control+k")
    compose(chat.locator("#palette-q"))
    chat.keyboard.press("Control+k")
    chat.locator(".head details.menu summary").click()
    chat.get_by_role("link", name="Settings of this chat").click()
    compose(chat.get_by_label("System prompt"))


def focused(page: Page) -> str:
    """Where the focus is, once it is anywhere; "BODY" fails."""
    page.wait_for_function("() => document.activeElement !== document.body")
    return page.evaluate("document.activeElement.id || document.activeElement.closest('[id]').id")


def press(place: Locator) -> None:
    """By the keyboard, so that it has the focus whatever browser it is."""
    place.focus()
    place.press("Enter")


def test_focus_never_falls_to_the_page_after_a_swap(alice: Visit, script: Script) -> None:
    long = "Bread wants time, warmth and patience, and then some more of each. " * 30
    page = alice.open(alice.chat("One", long, "Two", long, "Three", long, "Four", long))
    third = page.locator("#m-4")

    press(third.locator("[data-edit]"))
    page.get_by_role("textbox", name="Your message").fill("Three, put otherwise")
    press(button(third, "Save"))
    expect(third.locator(".prose")).to_have_text("Three, put otherwise")
    expect(page.locator("#m-4 :focus")).to_have_count(1)

    press(button(third, "Previous version"))
    expect(third.locator(".prose")).to_have_text("Three")
    expect(page.locator("#m-4 :focus")).to_have_count(1)
    press(button(third, "Next version"))
    expect(third.locator(".prose")).to_have_text("Three, put otherwise")
    expect(page.locator("#m-4 :focus")).to_have_count(1)

    press(third.get_by_label("More about this message"))
    press(button(third, "Pin"))
    expect(third.get_by_text("Pinned")).to_be_visible()
    expect(third.get_by_label("More about this message")).to_be_focused()

    press(page.locator("#m-2").get_by_label("More about this message"))
    press(page.locator("#m-2").get_by_role("link", name="Delete"))
    expect(page.locator("#sheet")).to_be_visible()
    press(button(page, "Delete this message"))
    expect(page.locator("#m-2")).to_contain_text("deleted")
    expect(button(page.locator("#m-2"), "Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#m-2 .prose")).to_have_text("Two")
    assert focused(page)
    expect(page.locator("#m-2 :focus, #m-3 :focus")).to_have_count(1)

    press(button(page, "Compact now"))
    expect(page.locator("#crease")).to_be_visible()
    assert focused(page)
    press(button(page, "Read summary"))
    press(page.get_by_role("button", name="Undo"))
    expect(page.locator("#crease")).to_have_count(0)
    assert focused(page)

    gate = script.will_hold("Some words")
    send(page, "Go on")
    expect(last(page)).to_contain_text("Some words")
    for words in ("A waiting one", "Another", "A third"):
        box(page).fill(words)
        press(button(page, "Queue"))
        expect(page.locator("#queue")).to_contain_text(words)
    press(button(page.locator("#queue li").nth(1), "Discard"))
    expect(page.locator("#queue li")).to_have_count(2)
    expect(page.locator("#queue :focus")).to_have_count(1)
    press(button(page.locator("#queue li").nth(1), "Edit"))
    expect(page.locator("#queue li")).to_have_count(1)
    expect(box(page)).to_be_focused()
    press(button(page.locator("#queue"), "Discard"))
    expect(page.locator("#queue li")).to_have_count(0)
    expect(box(page)).to_be_focused()

    box(page).fill("")
    press(button(page, "Stop"))
    expect(last(page)).to_have_attribute("data-status", "stopped")
    gate.set()
    assert focused(page)


def test_focus_that_was_given_up_is_not_forced_upon_anyone(alice: Visit) -> None:
    path = alice.chat("One", "First.")
    page, other = alice.open(path), alice.open(path)
    button(page, "Copy").last.focus()
    page.locator("#scroll").click(position={"x": 5, "y": 5})
    page.evaluate("document.activeElement.blur()")

    say(other, "Two")
    expect(messages(page)).to_have_count(4)

    assert page.evaluate("document.activeElement === document.body || document.activeElement.id === 'scroll'")


def test_edit_that_another_tab_was_faster_with_keeps_the_text_and_says_so(alice: Visit) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code")
    path = alice.chat("One", "First.", "Two", "Second.")
    slow, fast = alice.open(path), alice.open(path)
    slow.locator("#m-2 [data-edit]").click()
    typed = slow.get_by_role("textbox", name="Your message")
    typed.fill("Two, as the slow tab has it")
    fast.locator("#m-2 [data-edit]").click()
    fast.get_by_role("textbox", name="Your message").fill("Two, as the fast tab has it")
    button(fast, "Save").click()
    expect(fast.locator("#m-2 .prose")).to_have_text("Two, as the fast tab has it")

    expect(slow.locator("#m-2 .prose")).to_have_text("Two, as the fast tab has it")
    expect(typed).to_have_value("Two, as the slow tab has it")
    expect(typed).to_be_focused()
    button(slow, "Save").click()

    expect(slow.locator("[data-refused]")).to_contain_text("changed or deleted elsewhere")
    expect(typed).to_have_value("Two, as the slow tab has it")
    slow.get_by_role("link", name="Cancel").click()
    expect(slow.locator("#m-2 .prose")).to_be_visible()


def test_edit_of_a_message_that_was_deleted_elsewhere_keeps_the_text(alice: Visit) -> None:
    path = alice.chat("One", "First.", "Two", "Second.")
    slow, fast = alice.open(path), alice.open(path)
    slow.locator("#m-2 [data-edit]").click()
    slow.get_by_role("textbox", name="Your message").fill("Two, at length")
    fast.locator("#m-2").get_by_label("More about this message").click()
    fast.locator("#m-2").get_by_role("link", name="Delete").click()
    button(fast, "Delete this message").click()
    expect(fast.locator("#m-2")).to_have_attribute("data-status", "deleted")

    expect(slow.locator("#m-2")).to_have_attribute("data-status", "deleted")

    expect(slow.get_by_role("textbox", name="Your message")).to_have_value("Two, at length")


def test_drawer_of_a_phone_holds_the_focus_and_gives_it_back(visit: Callable[..., Visit]) -> None:
    hand = visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = hand.open(hand.chat("Hello", "Hello to you."))
    drawer, opener = page.locator("#sidebar"), button(page, "Chats")

    opener.tap()
    expect(drawer).to_be_visible()
    expect(page.locator("#live")).to_have_attribute("inert", "")
    for _ in range(20):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.activeElement.closest('#live')")
    take_picture(page, "drawer-phone")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page.locator("#live")).not_to_have_attribute("inert", "")
    expect(opener).to_be_focused()

    opener.tap()
    expect(drawer).to_be_visible()
    page.touchscreen.tap(380, 500)
    expect(drawer).to_be_hidden()


def test_keyboard_that_lies_over_the_page_leaves_the_box_in_sight(visit: Callable[..., Visit]) -> None:
    """As on iOS, where the window keeps its height and only the part of it that can be seen is smaller."""
    hand = visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = hand.open(hand.chat("Hello", "Hello to you."))

    page.evaluate(
        """() => { Object.defineProperty(visualViewport, "height", { value: 420 });
            visualViewport.dispatchEvent(new Event("resize")); }"""
    )

    end = page.evaluate("() => document.getElementById('meter').getBoundingClientRect().bottom")
    assert 300 < end <= 420


def test_what_a_finger_presses_is_large_enough(visit: Callable[..., Visit]) -> None:
    hand = visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = hand.open(hand.chat("Hello", "Hello to you."))
    small = """least => [...document.querySelectorAll("a[href], button, summary, select, input:not([type=hidden])")]
        .filter((each) => each.checkVisibility() && !each.closest(".visually-hidden, .skip, p"))
        .map((each) => [each.textContent.trim() || each.name, each.getBoundingClientRect()])
        .filter(([, { width, height }]) => width && (width < least || height < least))
        .map(([name, { width, height }]) => `${name}: ${width} x ${height}`)"""

    assert page.evaluate(small, 24) == []
    button(page, "Chats").tap()
    expect(page.locator("#sidebar")).to_be_visible()
    assert page.evaluate(small, 24) == []
    tall = "name => document.querySelector(name).getBoundingClientRect().height"
    assert page.evaluate(tall, ".send") >= 44
    assert page.evaluate(tall, "[data-chat-link]") >= 44
