"""What broke in other chats, met where a person would meet it, as far as no test of a feature holds it already."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from chatapp.models import Run
from tests.browser.acting import Script, Visit, button, prose, say
from tests.scripted import Signal, hold, reply

pytestmark = [pytest.mark.browser, pytest.mark.server]


def step(message: Locator, name: str) -> None:
    """To the next or previous version, if there is one, and until it is shown."""
    before = message.locator(".versions").inner_text()
    button(message, name).click()
    expect(message.locator(".versions")).not_to_have_text(before)


def test_every_leaf_of_a_tree_of_versions_can_be_shown(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat("One", "First."))
    script.will(reply("First, again."), reply("Second."), reply("Second, again."))
    first, second = page.locator("#m-0"), page.locator("#m-1")
    button(second, "Regenerate").click()
    expect(prose(second)).to_have_text("First, again.")
    first.locator("[data-edit]").click()
    page.get_by_role("textbox", name="Your message").fill("Two")
    button(page, "Save and answer").click()
    expect(prose(second)).to_have_text("Second.")
    button(second, "Regenerate").click()
    expect(prose(second)).to_have_text("Second, again.")

    seen = set()
    for said in ("Next version", "Previous version"):
        if "aria-disabled" not in (button(first, said).evaluate("each => each.outerHTML")):
            step(first, said)
        for answered in ("Previous version", "Next version"):
            if "aria-disabled" not in (button(second, answered).evaluate("each => each.outerHTML")):
                step(second, answered)
            seen.add((prose(first).inner_text(), prose(second).inner_text()))

    assert seen == {("One", "First."), ("One", "First, again."), ("Two", "Second."), ("Two", "Second, again.")}


def test_thoughts_of_a_model_are_no_part_of_the_title_it_gives(page: Page, script: Script) -> None:
    script.title = reply("<think>Hm, bread. Or winter?</think>Bread in winter", thoughts="What would a title be?")

    say(page, "Hello")

    expect(page.get_by_role("heading", level=1)).to_have_text("Bread in winter")
    expect(page.locator("#sidebar-chats")).to_contain_text("Bread in winter")
    expect(page.locator("#sidebar-chats")).not_to_contain_text("Hm, bread")


def test_sixty_replies_that_never_come_keep_no_page_waiting(alice: Visit, script: Script) -> None:
    gate = Signal()
    script.usually = [hold(gate), *reply("At last.")]
    alice.context.request.get("/")
    token = next(each["value"] for each in alice.context.cookies() if each["name"] == "csrftoken")
    for number in range(60):
        form = {"text": f"Question {number}", "csrfmiddlewaretoken": token, "idempotency_key": f"sixty{number}"}
        assert alice.context.request.post("/chats/", form=form, max_redirects=0).status == 302

    answers = [alice.context.request.get(path) for path in ("/accounts/password/reset/", "/") * 3]
    writing = alice.rows(lambda: Run.objects.live().filter(chat__owner__username=alice.name).count())
    gate.set()

    assert [answer.status for answer in answers] == [200] * 6
    assert writing == 60, "no page waited for the end of one"
