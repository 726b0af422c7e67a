"""Chats out as files and in again, by clicks, at the real server."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.acting import Visit, button, messages

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
    page.get_by_role("link", name="Open “A chat”").click()

    expect(page.locator("#crease")).to_contain_text("2 earlier messages")
    expect(messages(page)).to_have_count(2)


def test_markdown_and_everything_are_downloads_too(alice: Visit, tmp_path: Path) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    page.get_by_label("More about this chat").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export as Markdown").click()
    started.value.save_as(tmp_path / "chat.md")
    assert "## You\n\nHello\n" in (tmp_path / "chat.md").read_text()

    page.get_by_role("link", name="Import").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export everything").click()

    started.value.save_as(tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text())["format"] == "foldline-chats"
