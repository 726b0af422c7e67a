"""What every page owes every reader: no violation that axe knows of, in either scheme, and no overflow on a phone."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.acting import Visit, button

pytestmark = [pytest.mark.browser, pytest.mark.server]

RICH = """# A heading

Some **bold** text with `code` and [a link](https://example.org/a/very/long/address/that/never/ends/and/goes/on/for/ever).

| Flour | Water | Salt |
|---|---|---|
| 500 g of the darkest rye there is | 400 ml | 10 g |

```python
def knead(dough, *, minutes=10, until="the windowpane test is passed and the dough is smooth and elastic"):
    return dough  # and a comment that makes this line so long that it has to scroll by itself somewhere
```

1. One
2. Two

> A quotation

Averyverylongwordwithoutanyspacethatwouldmakeanarrowpagewiderthanitisifnothingbrokeitinthemiddleofnowhere
"""


# Django labels the search of a list with a picture that has an alternative text; this rule wants words.
RULES = {"resultTypes": ["violations"], "rules": {"label-title-only": {"enabled": False}}}


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


def overflow(page: Page) -> int:
    return page.evaluate("document.scrollingElement.scrollWidth - innerWidth")


def open_all(sam: Visit, stranger: Visit) -> list[tuple[str, Page]]:
    """Every kind of page, as a person on the staff sees it, and the sign-in."""
    stranger.context.clear_cookies(name="sessionid")
    chat = sam.chat("Hello", RICH, "More", RICH, "And **on**", RICH, folded_through=3)
    opened = sam.open(chat)
    button(opened, "Show archived messages").click()
    expect(opened.locator("#archived article")).to_have_count(4)
    button(opened, "Read summary").click()
    button(opened, "Details").click()
    opened.locator("[data-meter] summary").click()
    sheet = sam.open(chat)
    sheet.locator("[data-meter] summary").click()
    sheet.locator("#meter").get_by_role("link", name="What the model is sent").click()
    expect(sheet.locator("#sheet")).to_be_visible()
    wish = sam.open(chat)
    wish.get_by_label("Compact now, with a wish").click()
    return [
        ("what is sent", sheet),
        ("wish", wish),
        ("what is sent, a page", sam.open(f"{chat}request/")),
        ("earlier compactions", sam.open(f"{chat}compactions/")),
        ("home", sam.open("/")),
        ("chat folded", sam.open(chat)),
        ("chat opened", opened),
        ("sign in", stranger.open("/accounts/login/")),
        ("rename", sam.open(f"{chat}rename/")),
        ("delete", sam.open(f"{chat}delete/")),
        ("admin", sam.open("/admin/")),
        ("settings", sam.open("/admin/chatapp/sitesettings/")),
        ("endpoints", sam.open("/admin/chatapp/endpoint/")),
        ("compactions", sam.open("/admin/chatapp/compaction/")),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(visit: Callable[..., Visit], scheme: str) -> None:
    sam, stranger = visit(is_staff=True, color_scheme=scheme), visit(color_scheme=scheme)
    pages = open_all(sam, stranger)
    for each in (sam, stranger):
        each.allow("Applying inline style", "load preload assets")  # axe's own, from here on
    found = {name: violations(page) for name, page in pages}

    assert {name: complaints for name, complaints in found.items() if complaints} == {}


def test_nothing_is_wider_than_a_phone(visit: Callable[..., Visit]) -> None:
    phone = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
    wide = {name: overflow(page) for name, page in open_all(visit(is_staff=True, **phone), visit(**phone))}

    assert {name: by for name, by in wide.items() if by > 0} == {}


def test_only_the_column_scrolls_never_the_page(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", RICH, "More", RICH, "And **on**", RICH, folded_through=3))
    page.locator("section[data-divider]").evaluate("divider => divider.scrollIntoView()")

    assert page.evaluate("document.scrollingElement.scrollHeight - innerHeight") <= 0
    assert page.evaluate("document.scrollingElement.scrollTop") == 0


def test_sidebar_of_a_phone_opens_and_closes(visit: Callable[..., Visit]) -> None:
    hand = visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = hand.open(hand.chat("Hello", "Hello to you."))
    expect(page.get_by_role("navigation", name="Chats")).to_be_hidden()

    page.get_by_role("button", name="Chats", exact=True).tap()
    expect(page.get_by_role("navigation", name="Chats")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).tap()

    expect(page.get_by_role("navigation", name="Chats")).to_be_hidden()
