"""Files in the box: dropped, pasted or chosen, removed by keyboard, sent, and opened in the message."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import Page, expect

from chatapp.models import LanguageModel
from tests.browser.acting import Script, Visit, box, button, ended, messages, send
from tests.browser.pictures import take_pictures
from tests.making_files import TABLE, picture

pytestmark = [pytest.mark.browser, pytest.mark.server]

BRING = """([how, name, type, data, words]) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    if (name) transfer.items.add(new File([bytes], name, { type }));
    if (words) transfer.setData("text/plain", words);
    const box = document.getElementById("text");
    const so = { bubbles: true, cancelable: true };
    if (how !== "drop") box.dispatchEvent(new ClipboardEvent("paste", { ...so, clipboardData: transfer }));
    const drag = (name) => box.dispatchEvent(new DragEvent(name, { ...so, dataTransfer: transfer }));
    if (how === "drop") ["dragover", "drop"].forEach(drag);
}"""


def bring(page: Page, how: str, name: str, content: bytes, *, kind: str = "", words: str = "") -> None:
    page.evaluate(BRING, [how, name, kind, base64.b64encode(content).decode(), words])


@pytest.fixture
def chat(alice: Visit) -> Page:
    alice.rows(lambda: LanguageModel.objects.filter(name="scripted").update(sees_images=True))
    return alice.open(alice.chat("Hello", "Hello to you."))


def test_dropped_and_pasted_files_go_with_the_message_and_the_chip_opens(chat: Page, script: Script) -> None:
    bring(chat, "drop", "heights.csv", TABLE.encode())
    bring(chat, "paste", "cliff.png", picture(), kind="image/png")
    chips = chat.locator("#chips > li")
    expect(chips).to_have_count(2)
    expect(chips.get_by_role("button")).to_have_count(2)
    chat.wait_for_function("() => Number(document.querySelector('[data-meter]').dataset.pending) > 1000")

    take_pictures(chat, "files-box")
    send(chat, "Which is higher?")
    ended(chat, count=4)

    expect(chips).to_have_count(0)
    words, image = script.endpoint.payloads[-1]["messages"][-1]["content"]
    assert TABLE in words["text"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    said = messages(chat).nth(2)
    expect(said.get_by_role("img", name="cliff.png")).to_have_js_property("complete", value=True)
    said.get_by_text("heights.csv").click()
    expect(said.locator("pre")).to_have_text(TABLE.strip())
    take_pictures(chat, "files-sent")
    chat.reload()
    expect(said.get_by_role("img", name="cliff.png")).to_be_visible()


def test_words_that_are_copied_with_their_picture_are_pasted_as_words(chat: Page) -> None:
    bring(chat, "paste", "cells.png", picture(), kind="image/png", words="a\tb")

    expect(chat.locator("#chips > li")).to_have_count(0)


def test_chosen_files_are_removed_by_keyboard_and_the_focus_stays(chat: Page) -> None:
    chat.locator("#attach").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": name.encode()} for name in ("a.txt", "b.txt")]
    )
    remove = chat.locator("#chips").get_by_role("button")
    expect(remove).to_have_count(2)

    remove.first.focus()
    chat.keyboard.press("Enter")
    expect(remove).to_have_count(1)
    expect(remove).to_be_focused()
    chat.keyboard.press("Space")

    expect(remove).to_have_count(0)
    expect(box(chat)).to_be_focused()


def test_what_is_refused_is_said_beside_the_box_and_all_else_stays(alice: Visit, chat: Page) -> None:
    alice.allow("Failed to load resource")
    box(chat).fill("My words")
    bring(chat, "drop", "good.txt", b"Good")
    expect(chat.locator("#chips").get_by_role("button")).to_have_count(1)

    bring(chat, "drop", "photo.png", b"not one at all")
    expect(chat.locator("#composer-error")).to_contain_text("“photo.png” is no image that can be read")
    chat.locator("#chips").evaluate("list => (list.dataset.mostBytes = 3)")
    bring(chat, "drop", "vast.pdf", b"12345")

    expect(chat.locator("#composer-error")).to_contain_text("“vast.pdf” is larger than 20 MB")
    expect(box(chat)).to_have_value("My words")
    expect(chat.locator("#chips > li")).to_have_count(1)


def test_a_send_that_failed_keeps_text_and_files_and_sends_them_once_after(
    alice: Visit, chat: Page, script: Script
) -> None:
    alice.allow("Failed to load resource", "Response Status Error Code")
    bring(chat, "drop", "heights.csv", TABLE.encode())
    expect(chat.locator("#chips").get_by_role("button")).to_have_count(1)
    chat.route("**/send/", lambda route: route.fulfill(status=500, body="No"))
    send(chat, "Which?")
    expect(chat.locator("#composer-error")).to_contain_text("Your text is still here")
    expect(chat.locator("#chips > li")).to_have_count(1)
    chat.unroute("**/send/")

    button(chat, "Send").click()
    ended(chat, count=4)

    assert TABLE in script.endpoint.payloads[-1]["messages"][-1]["content"]
    expect(chat.locator("#chips > li")).to_have_count(0)


def test_a_long_paste_stays_until_it_is_wanted_as_a_file(chat: Page, script: Script) -> None:
    offer = button(chat, "Attach it as a file instead")
    pasted = "bread wants time " * 300
    bring(chat, "words", "", b"", words="short")
    box(chat).fill("short")
    expect(offer).to_be_hidden()

    bring(chat, "words", "", b"", words=pasted)
    box(chat).fill(f"Sum this up: {pasted}")
    expect(offer).to_be_visible()
    expect(box(chat)).to_have_value(f"Sum this up: {pasted}")
    offer.click()

    expect(box(chat)).to_have_value("Sum this up:")
    expect(box(chat)).to_be_focused()
    expect(offer).to_be_hidden()
    expect(chat.locator("#chips")).to_contain_text("pasted.txt")
    box(chat).press("Enter")
    ended(chat, count=4)
    sent = script.endpoint.payloads[-1]["messages"][-1]["content"]
    assert sent.startswith('Sum this up:\n\n<record of="the file pasted.txt">\nbread wants')
