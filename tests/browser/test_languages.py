"""A language is chosen in the page, and everything that comes to the page afterwards speaks it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from chatapp.models import DailyUse
from tests.browser.acting import Script, Visit, button, last

pytestmark = [pytest.mark.browser, pytest.mark.server]

USED = {"tokens": 12_345_678, "cost": 12, "upload_bytes": 5_000_000}
CODE = "```python\nknead()\n```\n\nThat is all"


def sent(page: Page, words: str) -> None:
    page.get_by_role("textbox", name="Message", exact=True).fill(words)
    button(page, "Envoyer").click()


def test_what_is_chosen_holds_for_page_scripts_and_socket(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    page.get_by_text("Display", exact=True).click()
    button(page, "Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("time.at span").first).to_have_text("à l’instant")

    gate = script.will_hold(CODE)
    sent(page, "Et maintenant ?")
    expect(page.locator("#status")).to_have_text("Réponse en cours d’écriture.")
    expect(button(page, "Arrêter")).to_be_visible()
    expect(last(page).locator("[data-copy-code]")).to_have_text("Copier")
    gate.set()
    expect(page.locator("#status")).to_have_text("La réponse est terminée.")

    button(last(page), "Régénérer").click()
    expect(last(page).get_by_text("2 / 2")).to_be_visible()
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(button(page, "Compacter")).to_be_visible()


def test_two_tabs_in_two_languages_each_hear_their_own(alice: Visit, script: Script) -> None:
    chat = alice.chat("Hello", "Hello to you.")
    english = alice.open(chat)
    french = alice.open(chat)
    french.get_by_text("Display", exact=True).click()
    button(french, "Français").click()
    expect(french.locator("html")).to_have_attribute("lang", "fr")

    gate = script.will_hold(CODE)
    sent(french, "Et maintenant ?")
    expect(english.locator("#status")).to_have_text("Writing a reply.")
    gate.set()

    expect(english.locator("#status")).to_have_text("The reply is finished.")
    expect(button(last(english), "Regenerate")).to_be_visible()
    expect(last(english).locator("[data-copy-code]")).to_have_text("Copy")
    expect(button(last(french), "Régénérer")).to_be_visible()
    expect(last(french).locator("[data-copy-code]")).to_have_text("Copier")


@pytest.mark.parametrize("locale", ["fr-FR", "zh-CN"])
def test_numbers_are_the_same_from_server_and_script(visit: Callable[..., Visit], locale: str) -> None:
    reader = visit(locale=locale)
    page = reader.open(reader.chat("Hello", "a word or two " * 3_000))
    size = page.locator("[data-meter-used]")
    written = size.inner_text()

    page.locator("#text").fill("x")
    expect(size).not_to_have_text(written)

    grouped = "\u202f" if locale == "fr-FR" else ","
    assert grouped in written
    assert grouped in size.inner_text()


@pytest.mark.parametrize("locale", ["fr-FR", "zh-CN"])
def test_longer_words_make_no_page_wider_than_a_phone(visit: Callable[..., Visit], locale: str) -> None:
    sam = visit(is_staff=True, locale=locale, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    chat = sam.chat("Hello", "Hello to you.", "More", "And more.", folded_through=1)
    pages = ["/", chat, f"{chat}#sidebar", f"{chat}request/", f"{chat}settings/", f"{chat}compactions/", "/import/"]
    pages += ["/usage/", "/accounts/password/change/", "/accounts/devices/", "/accounts/second-factor/"]
    sam.rows(
        lambda: DailyUse.objects.create(owner=User.objects.get(username=sam.name), day=timezone.localdate(), **USED)
    )
    opened = {path: sam.open(path) for path in pages}
    opened[chat].locator("[data-toggle=fold-details]").click()

    wide = {
        path: page.evaluate("document.scrollingElement.scrollWidth - screen.width") for path, page in opened.items()
    }

    assert {path: by for path, by in wide.items() if by > 0} == {}
