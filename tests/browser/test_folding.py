"""The fold: what is behind the divider, what it says, and how it comes and goes."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import SUMMARY, Script, Visit, button, ended, messages, prose, say, send
from tests.scripted import Signal, head, hold, json_error, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]

BREAD = "Bread wants time, warmth and patience, and then some more of each. " * 12
TALK = [f"{number}: {BREAD}" for number in range(8)]


def divider(page: Page):
    return page.locator("section[data-divider]")


@pytest.fixture
def folded(alice: Visit) -> Page:
    return alice.open(alice.chat("First of all", "Indeed.", *TALK, folded_through=5))


def test_folded_chat_says_how_much_is_behind_the_divider(folded: Page) -> None:
    expect(divider(folded)).to_contain_text("6 earlier messages")
    expect(divider(folded)).to_contain_text("1,000 → 200 tokens")
    expect(messages(folded)).to_have_count(4)
    expect(folded.get_by_text("First of all")).to_have_count(0)


def test_archived_messages_open_in_place_and_dimmed(folded: Page) -> None:
    newest = messages(folded).first
    button(folded, "Show archived messages").click()

    archived = folded.locator("#archived article")
    expect(archived).to_have_count(6)
    expect(archived.first).to_contain_text("First of all")
    assert archived.last.bounding_box()["y"] < newest.bounding_box()["y"]
    colours = [
        place.evaluate("node => getComputedStyle(node).color")
        for place in (archived.first.locator(".prose"), newest.locator(".prose"))
    ]
    opacities = [
        place.evaluate("node => getComputedStyle(node).opacity") for place in (folded.locator("#archived"), newest)
    ]
    assert colours[0] != colours[1] or opacities[0] != opacities[1]
    button(folded, "Hide archived messages").click()
    expect(archived.first).to_be_hidden()


def test_archived_messages_of_a_long_chat_come_in_pages_and_the_place_is_kept(alice: Visit) -> None:
    texts = [f"message {number}" for number in range(122)]
    page = alice.open(alice.chat(*texts, folded_through=119))
    button(page, "Show archived messages").click()
    archived = page.locator("#archived article")
    expect(archived).to_have_count(40)
    before = page.get_by_text("message 85", exact=True).bounding_box()["y"]

    older = page.locator("#archived").get_by_role("link", name="Earlier messages")
    with page.expect_response("**/archived/**"):
        older.evaluate("link => link.click()")
    expect(archived).to_have_count(80)

    assert abs(page.get_by_text("message 85", exact=True).bounding_box()["y"] - before) < 2
    page.locator("#scroll").evaluate("scroll => { scroll.scrollTop = 0 }")
    expect(archived).to_have_count(120)
    expect(page.locator("#archived").get_by_role("link", name="Earlier messages")).to_have_count(0)
    expect(archived.first).to_contain_text("message 0")


def test_summary_is_read_and_copied(folded: Page) -> None:
    folded.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(folded, "Read summary").click()

    expect(folded.locator("#summary-text")).to_have_text(SUMMARY)
    button(folded.locator("#summary"), "Copy").click()
    expect(folded.locator("#summary").get_by_role("button", name="Copied")).to_be_visible()
    assert folded.evaluate("navigator.clipboard.readText()") == SUMMARY
    button(folded, "Details").click()
    expect(folded.locator("#fold-details")).to_contain_text("Compact now")


def test_undo_brings_everything_back(folded: Page) -> None:
    button(folded, "Undo").click()

    expect(divider(folded)).to_have_count(0)
    expect(messages(folded)).to_have_count(10)
    folded.reload()
    expect(messages(folded).first).to_contain_text("First of all")


def test_compact_now_folds_and_the_meter_falls_at_once(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat(*TALK))
    meter = page.locator("[data-meter]")
    before = int(meter.get_attribute("data-used") or 0)

    button(page, "Compact now").click()

    expect(divider(page)).to_be_visible()
    after = int(meter.get_attribute("data-used") or 0)
    assert after < before
    page.reload()
    expect(divider(page)).to_be_visible()
    expect(meter).to_have_attribute("data-used", str(after))
    button(page, "Undo").click()
    expect(messages(page)).to_have_count(8)


def test_k2_a_running_compaction_says_what_it_does_and_a_message_waits_behind_it(alice: Visit, script: Script) -> None:
    path = alice.chat(*TALK)
    page, other = alice.open(path), alice.open(path)
    gate = Signal()
    script.summary = [head(), text(SUMMARY), hold(gate), *reply("")[1:]]
    button(page, "Compact now").click()
    running = page.locator("#compaction")
    expect(running).to_contain_text("Folding earlier messages")
    expect(running).to_contain_text(re.compile(r"\d+ s"))
    expect(other.locator("#compaction")).to_contain_text("Folding earlier messages")

    send(page, "Meanwhile")
    expect(messages(page).last).to_have_attribute("data-status", "queued")
    expect(messages(page).last).to_contain_text("Waiting for the compaction to finish")
    gate.set()

    expect(divider(page)).to_be_visible()
    expect(prose(messages(page).last)).to_have_text("Indeed.")
    expect(divider(other)).to_be_visible()
    expect(messages(page).filter(has_text="Meanwhile")).to_have_count(1)


def test_cancel_leaves_everything_as_it_was(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat(*TALK))
    script.summary = [head(), text("They"), hold(Signal())]
    button(page, "Compact now").click()
    button(page, "Cancel").click()

    expect(page.locator("#compaction")).to_contain_text("cancelled; nothing changed")
    expect(divider(page)).to_have_count(0)
    say(page, "Go on")
    expect(page.locator("#compaction")).to_be_empty()


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (json_error(401, "Bad key"), "refused the key"),
        (reply(""), "wrote no summary"),
        (reply("Bread."), "too short"),
        (reply("I'm sorry, but I can't help with summarising this conversation for you today."), "declined"),
        (
            reply("这是一段用中文写的摘要,说的是面包、面粉、温度、时间和耐心,以及冬天应该如何等待面团慢慢发酵。" * 3),
            "different script",
        ),
        (reply(" ".join(f"word{number}" for number in range(3_000))), "longer than allowed"),
        (reply("They spoke about bread for a very long time, and then", finish_reason="length"), "cut off"),
    ],
)
def test_an_unfit_summary_changes_nothing_and_says_why(alice: Visit, script: Script, summary, words: str) -> None:
    page = alice.open(alice.chat(*TALK))
    script.summary = summary
    button(page, "Compact now").click()

    expect(page.locator("#compaction")).to_contain_text(words)
    expect(divider(page)).to_have_count(0)
    script.summary = reply(SUMMARY)
    button(page.locator("#compaction"), "Retry").click()
    expect(divider(page)).to_be_visible()


def test_one_turn_alone_is_refused_with_a_reason(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    button(page, "Compact now").click()

    expect(page.get_by_text("that always stays")).to_be_visible()
    expect(divider(page)).to_have_count(0)


def test_opened_fold_stays_open_while_one_goes_on(folded: Page) -> None:
    button(folded, "Show archived messages").click()
    expect(folded.locator("#archived article")).to_have_count(6)

    say(folded, "Go on")

    expect(folded.locator("#archived article")).to_have_count(6)
    expect(folded.locator("#archived article").first).to_be_visible()
    ended(folded, count=6)


def test_over_the_trigger_the_next_message_folds_by_itself(alice: Visit) -> None:
    page = alice.open(alice.chat(*[f"{number}: {BREAD * 3}" for number in range(16)]))
    expect(page.locator("[data-meter]")).to_contain_text("folds with the next message")

    say_and_fold = messages(page)
    send(page, "Go on")

    expect(divider(page)).to_be_visible()
    expect(prose(say_and_fold.last)).to_have_text("Indeed.")
