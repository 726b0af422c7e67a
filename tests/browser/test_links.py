"""A message has an address, also behind the fold; what is folded can be searched and printed (rule K1)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import SUMMARY, Visit, button
from tests.browser.pictures import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]

MANY = [f"message {number}" for number in range(160)]


def is_in_view(page: Page, position: int) -> bool:
    return page.locator(f"#m-{position}").evaluate(
        """node => {
            const [box, view] = [node, document.getElementById("scroll")].map((each) => each.getBoundingClientRect());
            return box.top >= view.top && box.bottom <= view.bottom;
        }"""
    )


@pytest.mark.parametrize("position", [3, 60, 118])
def test_k1_address_of_an_archived_message_opens_the_fold_there(alice: Visit, position: int) -> None:
    path = alice.chat(*MANY, folded_through=119)
    page = alice.open(f"{path}#m-{position}")

    linked = page.locator(f"#archived #m-{position}")
    expect(linked).to_be_visible()
    expect(button(page, "Hide archived messages")).to_have_attribute("aria-expanded", "true")
    page.wait_for_function("document.readyState === 'complete'")
    assert is_in_view(page, position)


def test_k1_every_archived_message_comes_in_order_from_a_linked_one_on(alice: Visit) -> None:
    page = alice.open(f"{alice.chat(*MANY, folded_through=119)}?m=60#m-60")
    archived = page.locator("#archived")
    for name in ("Earlier messages", "Later messages"):
        more = archived.get_by_role("link", name=name)
        while more.count():
            with page.expect_response("**/archived/**"):
                more.first.evaluate("link => link.click()")
    expect(archived.locator("article")).to_have_count(120)
    positions = archived.locator("article").evaluate_all("all => all.map((each) => Number(each.id.slice(2)))")
    assert positions == list(range(120))


def test_k1_address_of_a_live_message_above_the_first_paint_shows_it(alice: Visit) -> None:
    page = alice.open(f"{alice.chat(*MANY)}#m-7")

    expect(page.locator("#m-7")).to_be_visible()
    assert is_in_view(page, 7)


def test_k1_link_to_a_message_is_copied_and_opens_it(visit: Callable[..., Visit]) -> None:
    alice = visit(permissions=["clipboard-read", "clipboard-write"])
    page = alice.open(alice.chat(*MANY[:8], folded_through=3))
    button(page, "Show archived messages").click()
    message = page.locator("#m-1")
    message.get_by_label("More about this message").click()
    message.get_by_role("link", name="Link to this message").click()
    expect(message).to_contain_text("Link copied")

    page.goto(page.evaluate("navigator.clipboard.readText()"))

    expect(page.locator("#archived #m-1")).to_be_visible()


def test_k1_what_was_opened_and_folded_again_is_still_found_by_the_browsers_search(alice: Visit) -> None:
    page = alice.open(alice.chat(*MANY[:8], folded_through=3))
    button(page, "Show archived messages").click()
    expect(page.locator("#m-1")).to_be_visible()
    button(page, "Hide archived messages").click()

    expect(page.locator("#archived")).to_have_attribute("hidden", "until-found")
    expect(page.locator("#m-1 .prose")).not_to_be_in_viewport()
    page.locator("#archived").dispatch_event("beforematch", {"bubbles": True})

    expect(page.locator("#m-1")).to_be_in_viewport()
    expect(button(page, "Hide archived messages")).to_have_attribute("aria-expanded", "true")


def test_k1_everything_is_printed_the_folded_part_too(alice: Visit) -> None:
    alice.context.add_init_script("window.print = () => { window.hasPrinted = true }")
    page = alice.open(alice.chat(*MANY, folded_through=119) + "print/")

    expect(page.locator("article")).to_have_count(160)
    expect(page.locator("main")).to_have_text(re.compile(r"Foldline\s+Back to the chat\s+A chat\s+You\s+message 0\b"))
    expect(page.locator(".crease")).to_contain_text("120 earlier messages")
    expect(page.get_by_text(SUMMARY)).to_be_visible()
    assert page.evaluate("window.hasPrinted")
    page.emulate_media(media="print")
    expect(page.get_by_text("Back to the chat")).to_be_hidden()
    expect(page.locator("#m-0")).to_be_visible()
    page.emulate_media(media="screen")
    take_pictures(page, "printed")
