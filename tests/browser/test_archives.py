"""Chats out as files and in again, by clicks, at the real server."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.acting import Visit, button, messages
from tests.foreign_exports import as_json, chatgpt

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_j3_chat_is_exported_from_its_menu_and_imported_with_its_fold(alice: Visit, tmp_path: Path) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you.", "More", "Here.", folded_through=1))
    page.get_by_label("More about this chat").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export as JSON").click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert file.name == "foldline-A-chat.json"
    assert len(json.loads(file.read_text())["chats"]) == 1

    page.get_by_role("link", name="Import").click()
    page.get_by_label("File").set_input_files(file)
    button(page, "Import").click()
    expect(page.get_by_role("status")).to_contain_text("1 chat imported")
    expect(page.locator("#import-progress")).to_contain_text("1 chat imported")
    page.get_by_role("link", name="Open “A chat”").click()

    expect(page.locator("#crease")).to_contain_text("2 earlier messages")
    expect(messages(page)).to_have_count(2)


def test_import_of_another_program_shows_its_progress_and_goes_on_over_a_reload(alice: Visit, tmp_path: Path) -> None:
    chats = [chatgpt(name=f"c{number}", title=f"Talk {number}", note="x" * 12_000) for number in range(250)]
    file = tmp_path / "conversations.json"
    file.write_bytes(as_json(chats))
    page = alice.open("/import/")
    page.get_by_label("File").set_input_files(file)
    button(page, "Import").click()

    bar = page.get_by_role("progressbar", name="Being read")
    expect(bar).to_be_visible()
    at_first = bar.get_attribute("value")
    expect(bar).not_to_have_attribute("value", at_first or "")
    page.reload()
    expect(bar).to_be_visible()
    button(page, "Cancel").focus()
    expect(page.locator("#import-progress")).to_contain_text("250 chats imported", timeout=120_000)
    expect(bar).to_have_count(0)
    expect(page.get_by_role("link", name="Back to the chats")).to_be_focused()


def test_file_that_is_no_export_is_told_in_a_sentence(alice: Visit, tmp_path: Path) -> None:
    page = alice.open("/import/")
    (tmp_path / "no.json").write_text("no")
    page.get_by_label("File").set_input_files(tmp_path / "no.json")
    button(page, "Import").click()

    expect(page.locator("#import-progress")).to_contain_text("is not JSON")


def test_markdown_and_everything_are_downloads_too(alice: Visit, tmp_path: Path) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    page.get_by_label("More about this chat").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export as Markdown").click()
    started.value.save_as(tmp_path / "chat.md")
    assert "## You\n\nHello\n" in (tmp_path / "chat.md").read_text()

    page.get_by_role("link", name="Import").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export everything", exact=True).click()

    started.value.save_as(tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text())["format"] == "foldline-chats"
