"""What every page owes every reader: no violation that axe knows of, in either scheme, and no overflow on a phone."""

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.acting import Visit, box, button

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
CONTRAST = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
# A chat's page at twice its size, and as narrow as any.
NARROW = [640, 320]
WIDE = ViewportSize(width=1280, height=820)


def violations(page: Page, rules: dict[str, object] = RULES) -> list[str]:
    # The admin's links change their colour little by little.
    page.evaluate("() => document.getAnimations().forEach((each) => each instanceof CSSTransition && each.finish())")
    found = Axe().run(page, options=rules).response["violations"]
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


def overflow(page: Page) -> int:
    return page.evaluate("document.scrollingElement.scrollWidth - Math.min(innerWidth, screen.width)")


def look_at(page: Page) -> list[str]:
    """Everything that is wrong with a page: every rule in the light, the contrast in the dark, and what sticks out."""
    page.emulate_media(color_scheme="light")
    wrong = violations(page, RULES)
    page.emulate_media(color_scheme="dark")
    wrong += violations(page, CONTRAST)
    for width in NARROW:
        page.set_viewport_size({"width": width, "height": 480})
        if by := overflow(page):
            wrong.append(f"{by} pixels too wide at {width}")
    page.set_viewport_size(WIDE)
    return wrong


def walk(sam: Visit, stranger: Visit) -> Iterator[tuple[str, Page]]:
    """Every kind of page, one after the other, as a person on the staff and a stranger see it."""
    stranger.context.clear_cookies(name="sessionid")
    outside = stranger.open("/accounts/login/")
    yield "sign in", outside
    for path in ("/accounts/signup/", "/accounts/password/reset/", "/offline/", "/nowhere/"):
        outside.goto(path)
        yield path, outside
    page = sam.open("/")
    yield "home, empty", page
    chat = sam.chat("Hello", RICH, "More", RICH, "And **on**", RICH, folded_through=3)
    page.goto(chat)
    yield "chat folded", page
    page.get_by_label("Compact now, with a wish").click()
    yield "wish", page
    page.keyboard.press("Escape")
    button(page, "Show archived messages").click()
    expect(page.locator("#archived article")).to_have_count(4)
    button(page, "Read summary").click()
    button(page, "Details").click()
    page.locator("[data-meter] summary").click()
    yield "chat opened", page
    page.locator("#meter").get_by_role("link", name="What the model is sent").click()
    expect(page.locator("#sheet")).to_be_visible()
    yield "what is sent", page
    page.goto(chat)
    page.get_by_label("More about this chat").click()
    page.get_by_role("link", name="Settings of this chat").click()
    expect(page.locator("#sheet")).to_be_visible()
    yield "settings of a chat", page
    page.goto(chat)
    button(page, "Keys").click()
    yield "keys", page
    page.goto(chat)
    page.locator("#m-4 [data-edit]").click()
    expect(page.get_by_role("textbox", name="Your message")).to_be_visible()
    yield "editing", page
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    yield "palette", page
    page.goto("/presets/")
    page.get_by_label("Name").fill("Brief")
    page.get_by_label("Text").fill("Be brief.")
    button(page, "Save").click()
    page.get_by_text("Brief", exact=True).click()
    yield "presets", page
    page.goto(chat)
    page.locator("#attach").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": b"a,b"})
    expect(button(page, "Remove a.csv")).to_be_visible()
    box(page).press_sequentially("/b")
    expect(page.locator("#presets-panel")).to_be_visible()
    yield "box with a file and presets", page
    page.keyboard.press("Escape")
    for path in ("request/", "compactions/", "settings/", "order/", "rename/", "delete/", "share/"):
        page.goto(chat + path)
        yield path, page
    for path in ("/search/?q=hello", "/search/?q=zanzibar", "/import/", "/shared/", "/chats/archived/"):
        page.goto(path)
        yield path, page
    page.goto("/accounts/password/change/")
    yield "account", page
    for path in (
        "",
        "chatapp/sitesettings/",
        "chatapp/endpoint/",
        "chatapp/languagemodel/",
        "chatapp/compaction/",
        "chatapp/preset/add/",
    ):
        page.goto(f"/admin/{path}")
        yield f"admin {path}", page


def test_every_page_keeps_the_rules_of_axe_in_both_themes_and_fits_a_narrow_window(visit: Callable[..., Visit]) -> None:
    sam, stranger = visit(is_staff=True, viewport=WIDE), visit(viewport=WIDE)
    for each in (sam, stranger):
        each.allow("Applying inline style", "load preload assets", "Failed to load resource")  # axe's own, and a 404

    found = {name: look_at(page) for name, page in walk(sam, stranger)}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_nothing_is_wider_than_a_phone(visit: Callable[..., Visit]) -> None:
    hand = visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    chat = hand.chat("Hello", RICH, "More", RICH, "And **on**", RICH, folded_through=3)
    page = hand.open(chat)
    wide = {}
    for path in ("", "request/", "compactions/", "settings/"):
        page.goto(chat + path)
        wide[path] = overflow(page)

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
