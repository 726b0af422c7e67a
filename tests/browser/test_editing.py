"""A user message edited in its place, by mouse and by keys; versions, forks; nothing typed is lost."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import Script, Visit, box, button, ended, messages, prose, say
from tests.scripted import reply

pytestmark = [pytest.mark.browser, pytest.mark.server]

TALK = ("Hello", "Hello to you.", "More", "Here.")
FOLDED = "The summary does not cover the new path; earlier turns will be folded anew."


def edit(message: Locator) -> Locator:
    """The box in the message's place."""
    message.hover()
    message.get_by_role("link", name="Edit").click()
    typed = message.get_by_role("textbox", name="Your message")
    expect(typed).to_be_focused()
    return typed


def version(message: Locator) -> Locator:
    return message.locator(".versions")


def test_edited_message_is_answered_anew_and_the_old_turn_is_an_arrow_away(alice: Visit, script: Script) -> None:
    script.will(reply("Less, then."))
    page = alice.open(alice.chat(*TALK))
    question = messages(page).nth(2)
    typed = edit(question)
    expect(typed).to_have_value("More")
    typed.fill("Less")

    typed.press("Control+Enter")

    expect(prose(messages(page).nth(3))).to_have_text("Less, then.")
    expect(prose(question)).to_have_text("Less")
    expect(version(question)).to_contain_text("2 / 2")
    back = button(question, "Previous version")
    back.focus()
    page.keyboard.press("Enter")
    expect(prose(messages(page).nth(3))).to_have_text("Here.")
    expect(version(question)).to_contain_text("1 / 2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(prose(question)).to_have_text("Less")
    expect(version(question)).to_contain_text("2 / 2")


def test_first_message_of_a_chat_has_versions_too(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    typed = edit(messages(page).first)
    typed.fill("Good morning")
    button(page, "Save and answer").click()

    ended(page, count=2)
    expect(version(messages(page).first)).to_contain_text("2 / 2")
    button(messages(page).first, "Previous version").click()

    expect(prose(messages(page).first)).to_have_text("Hello")


def test_saved_text_leaves_the_later_turns(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK))
    edit(messages(page).first).fill("Good morning")
    button(page, "Save").click()

    expect(prose(messages(page).first)).to_have_text("Good morning")
    expect(messages(page)).to_have_count(4)
    expect(version(messages(page).first)).to_contain_text("2 / 2")
    expect(page.locator("form.editor")).to_have_count(0)


def test_escape_leaves_the_message_as_it_was_and_gives_the_focus_back(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK))
    question = messages(page).first
    edit(question).fill("Never mind")
    page.keyboard.press("Escape")

    expect(prose(question)).to_have_text("Hello")
    expect(prose(question)).to_be_visible()
    expect(question.get_by_role("link", name="Edit")).to_be_focused()
    expect(edit(question)).to_have_value("Hello")


def test_keys_of_an_input_method_neither_send_nor_leave(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK))
    typed = edit(messages(page).first)
    typed.fill("にほんご")
    for key in ("Enter", "Escape"):
        for facts in ({"isComposing": True}, {"keyCode": 229}):
            typed.dispatch_event("keydown", {"key": key, "ctrlKey": True, "bubbles": True, **facts})

    expect(typed).to_have_value("にほんご")
    expect(messages(page)).to_have_count(4)


def test_what_was_typed_survives_a_refusal_and_a_reload(alice: Visit, script: Script) -> None:
    alice.allow("status of 409", "status of 422")
    gate = script.will_hold("Wait")
    page = alice.open(alice.chat(*TALK))
    box(page).fill("Go on")
    button(page, "Send").click()
    expect(messages(page)).to_have_count(6)
    question = messages(page).first
    typed = edit(question)
    typed.fill("Good morning")
    typed.press("Control+Enter")

    expect(question.get_by_role("alert")).to_contain_text("still being written")
    expect(typed).to_have_value("Good morning")
    gate.set()
    ended(page, count=6)
    expect(typed).to_have_value("Good morning")
    page.reload()
    expect(edit(question)).to_have_value("Good morning")
    typed.fill("  ")
    typed.press("Control+Enter")
    expect(question.get_by_role("alert")).to_contain_text("Write something first")


def test_open_editor_stays_while_the_page_changes_around_it(alice: Visit) -> None:
    address = alice.chat(*TALK)
    page, other = alice.open(address), alice.open(address)
    typed = edit(messages(page).first)
    typed.fill("Half a sen")

    say(other, "From the other tab")

    expect(messages(page)).to_have_count(6)
    expect(typed).to_have_value("Half a sen")
    expect(typed).to_be_focused()


def test_j1_word_before_an_archived_message_is_saved(alice: Visit) -> None:
    page = alice.open(alice.chat(*TALK, folded_through=1))
    button(page, "Show archived messages").click()
    typed = edit(page.locator("#archived article").first)
    expect(page.get_by_text(FOLDED)).to_be_visible()
    typed.fill("Good morning")
    typed.press("Control+Enter")

    ended(page, count=2)
    expect(page.locator("#crease")).to_have_count(0)


def test_message_is_edited_without_javascript(visit: Callable[..., Visit]) -> None:
    alice = visit(java_script_enabled=False)
    alice.allow("status of 422")
    page = alice.open(alice.chat(*TALK))
    messages(page).nth(2).hover()
    messages(page).nth(2).get_by_role("link", name="Edit").click()
    typed = page.get_by_label("Your message")
    typed.fill(" ")
    button(page, "Save and answer").click()
    expect(page.get_by_role("alert")).to_contain_text("Write something first")
    typed.fill("Less")
    button(page, "Save").click()

    expect(prose(messages(page).nth(2))).to_have_text("Less")
    expect(messages(page)).to_have_count(4)


def test_fork_at_a_question_is_a_chat_of_its_own_with_an_answer_to_ask_for(alice: Visit) -> None:
    page: Page = alice.open(alice.chat(*TALK))
    messages(page).nth(2).hover()
    messages(page).nth(2).get_by_label("More about this message").click()
    button(messages(page).nth(2), "Fork from here").click()

    expect(page.locator("#title")).to_have_text("Fork of A chat")
    expect(messages(page)).to_have_count(3)
    button(page, "Answer").click()
    ended(page, count=4)
    expect(button(page, "Answer")).to_be_hidden()
