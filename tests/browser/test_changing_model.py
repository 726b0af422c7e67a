"""A model with a smaller window: told under the picker, kept or folded for, in every tab and without JavaScript."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from chatapp.models import LanguageModel
from tests.browser.acting import Script, Visit, button, messages
from tests.browser.server_rows import ServerRows
from tests.scripted import json_error

pytestmark = [pytest.mark.browser, pytest.mark.server]

WORDS = "Bread wants time, warmth and patience, and then some more of each. " * 12
TALK = [f"{number}: {WORDS}" for number in range(12)]


@pytest.fixture(autouse=True)
def little(rows: ServerRows) -> Iterator[None]:
    """A third model, whose window these chats fill."""

    def make() -> int:
        endpoint = LanguageModel.objects.get(name="scripted").endpoint
        return LanguageModel.objects.create(endpoint=endpoint, name="little", window_set=2_048).pk

    pk = rows(make)
    yield
    rows(lambda: LanguageModel.objects.filter(pk=pk).delete())


def picker(page: Page) -> Locator:
    return page.get_by_label("Model", exact=True)


def chosen(page: Page) -> Locator:
    return picker(page).locator("option:checked")


def test_b8_told_first_kept_then_folded_and_changed_in_every_tab(alice: Visit, script: Script) -> None:
    path = alice.chat(*TALK)
    page, other = alice.open(path), alice.open(path)

    picker(page).select_option("little")
    told = page.locator("#changing")
    expect(told).to_contain_text("little holds 2,048. Earlier turns will be folded first, by scripted.")
    expect(chosen(page)).to_have_text("scripted")
    told.get_by_role("link", name="Keep scripted").click()
    expect(told).to_be_empty()
    picker(page).select_option("little")
    button(told, "Fold and change").click()

    for tab in (page, other):
        expect(tab.locator("#crease")).to_contain_text("earlier messages")
        expect(chosen(tab)).to_have_text("little")
    expect(told).to_be_empty()
    expect(page.locator("#meter")).to_contain_text("of 2,048 tokens")


def test_b8_a_failed_fold_says_so_and_retry_changes_the_model(alice: Visit, script: Script) -> None:
    script.summary = json_error(400, "No summaries here")
    page = alice.open(alice.chat(*TALK))
    picker(page).select_option("little")
    button(page.locator("#changing"), "Fold and change").click()
    expect(page.locator("#compaction")).to_contain_text("The model was not changed to little")
    expect(chosen(page)).to_have_text("scripted")

    script.summary = Script(script.endpoint, script.queue).summary
    button(page.locator("#compaction"), "Retry").click()

    expect(page.locator("#crease")).to_be_visible()
    expect(chosen(page)).to_have_text("little")


def test_b8_without_javascript_it_is_a_page(visit: Callable[..., Visit], script: Script) -> None:
    alice = visit(java_script_enabled=False)
    page = alice.open(alice.chat(*TALK))
    picker(page).select_option("little")
    button(page, "Use").click()
    expect(page.get_by_role("heading", name="Change the model")).to_be_visible()
    page.get_by_role("link", name="Keep scripted").click()
    expect(chosen(page)).to_have_text("scripted")
    picker(page).select_option("little")
    button(page, "Use").click()

    button(page, "Fold and change").click()

    expect(messages(page).first).to_be_visible()
    for _ in range(100):
        if chosen(page).inner_text() == "little":
            return
        page.reload()
    raise AssertionError("the model was never changed")
