"""The main job on the real engine: from the set-up link over a fold to a new threshold, as a newcomer does it."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect

from tests.browser.acting import box, button, messages, prose
from tests.browser.pictures import take_pictures
from tests.live import LiveServer
from tests.people import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.server, pytest.mark.engine]

SLOW_MS = 180_000  # the engine shares two cores with a browser and whatever else is running
MOST_TURNS = 8
MOST_PRESSES = 5  # the toy's summary may be unfit now and then
STORIES = """
I run a small bakery in Oxford with two ovens and four people. We bake about three hundred loaves a day, most of them
rye, and we start at two in the morning. The rye needs a sourdough that we feed three times a day; on Mondays we are
closed, and then nobody feeds it, so the first bread on Tuesday is always a little flat.

My sister Helen keeps the books and says that flour has become a third more expensive since spring. We buy it from a
mill near Banbury, two tonnes a month, and the miller wants to deliver only full pallets from now on. Our store room
holds a pallet and a half, so either we rent another room or we look for another miller.

The bigger oven was built in 1994 and its burner fails every few weeks. A repair costs four hundred pounds each time, a
new oven forty thousand. The bank would lend us the money at five percent over eight years, but then we would have to
sell thirty more loaves a day, and the shop is small and the street is quiet.

A hotel by the river has asked whether we could bring them eighty rolls every morning at six. They pay well but they
want them warm, and our van is on its round to the three schools at that time. My nephew has a cargo bicycle and would
do it for fifteen pounds a morning, also when it rains, but not when there is ice on the bridge.
""".strip().split("\n\n")


def story(number: int) -> str:
    """About four hundred tokens, so that a window of 2,048 is full after a few turns."""
    turned = STORIES[number % 4 :] + STORIES[: number % 4]
    return f"{' '.join(turned)} Please answer in one short sentence.".replace("\n", " ")


def is_complaint(message: ConsoleMessage) -> bool:
    """A press may meet a compaction that has begun by itself: the page says that it is refused, one presses again."""
    return message.type == "error" and "409 (Conflict)" not in message.text


@pytest.fixture
def newcomer(browser: Browser, start_server: Callable[..., LiveServer], tmp_path: Path) -> Iterator[Page]:
    """Somebody who has just started Foldline and opens the link that it printed."""
    server = start_server(data=tmp_path / "data", LOCAL_MODEL_CONTEXT="2048")
    found = re.search(r"http://\S+/setup/\S+", server.output)
    assert found, server.output
    context = browser.new_context(viewport=ViewportSize(width=1280, height=820))
    context.set_default_timeout(60_000)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text) if is_complaint(message) else None)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    page = context.new_page()
    page.goto(found[0])
    yield page
    context.close()
    assert not complaints, complaints


def test_from_the_set_up_link_to_a_moved_threshold(newcomer: Page, tmp_path: Path) -> None:
    page = newcomer
    make_the_first_account(page)
    chat_until_it_folds(page, tmp_path / "data")
    open_the_fold_and_read(page)
    send_on_and_reload(page)
    undo_and_compact_now(page, tmp_path / "data")
    move_the_threshold(page)


def make_the_first_account(page: Page) -> None:
    page.get_by_label("User").or_(page.get_by_label("Username")).first.fill("ada")
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_text("You are talking to a toy")).to_be_visible()
    button(page, "Got it").click()
    expect(page.get_by_text("You are talking to a toy")).to_be_hidden()


# The toy may repeat itself until its window is full; nobody would wait for that.
HAS_SAID_ENOUGH = """() => {
    const reply = [...document.querySelectorAll("#log > [data-role=assistant]")].pop();
    return !["queued", "streaming"].includes(reply.dataset.status) || reply.textContent.length > 400;
}"""


def turn(page: Page, words: str) -> None:
    """By the buttons; the end of the reply is the Send button's return."""
    replies = page.locator("#log > [data-role=assistant]")
    before = (replies.last.get_attribute("data-message") if replies.count() else None) or "none"
    box(page).fill(words)
    button(page, "Send").click()
    expect(box(page)).to_have_value("")
    expect(replies.last).not_to_have_attribute("data-message", before)
    page.wait_for_function(HAS_SAID_ENOUGH, timeout=SLOW_MS)
    if button(page, "Stop").count():
        button(page, "Stop").click()
    elif button(replies.last, "Retry").count():  # the engine was still loading its model
        button(replies.last, "Retry").click()
        page.wait_for_function(HAS_SAID_ENOUGH, timeout=SLOW_MS)
    expect(button(page, "Send")).to_be_visible(timeout=SLOW_MS)


def outcomes(data: Path) -> list[tuple[str, str, str, int]]:
    """Of every compaction: how it ended, why, and whose it was; for a message that helps when none applies."""
    with sqlite3.connect(data / "foldline.sqlite3") as database:
        query = "SELECT trigger, status, reason, completion_tokens FROM chatapp_compaction ORDER BY id"
        return list(database.execute(query))


def chat_until_it_folds(page: Page, data: Path) -> None:
    divider = page.locator("section[data-divider]")
    for number in range(MOST_TURNS):
        turn(page, story(number))
        if divider.count():
            break
    expect(divider, str(outcomes(data))).to_be_visible(timeout=1_000)
    expect(divider).to_have_attribute("data-compaction", re.compile(r"\d+"))
    expect(divider).to_contain_text(re.compile(r"\d+ earlier messages"))
    assert [outcome[0] for outcome in outcomes(data) if outcome[1] == "applied"] != ["button"]
    divider.evaluate("node => node.scrollIntoView({ block: 'start' })")
    take_pictures(page, "folded")


def open_the_fold_and_read(page: Page) -> None:
    button(page, "Show archived messages").click()
    archived = page.locator("#archived article")
    expect(archived.first).to_contain_text("bakery in Oxford")
    expect(archived.first).not_to_have_css("color", page.locator("#log article .prose").first.evaluate(COLOUR))
    take_pictures(page, "opened")
    button(page, "Hide archived messages").click()
    button(page, "Read summary").click()
    expect(page.locator("#summary-text")).to_be_visible()
    assert len(page.locator("#summary-text").inner_text()) > 40
    take_pictures(page, "summary")


COLOUR = "node => getComputedStyle(node).color"


def send_on_and_reload(page: Page) -> None:
    divider = page.locator("section[data-divider]")
    compaction = divider.get_attribute("data-compaction")
    turn(page, "Which oven do you mean? One short sentence, please.")
    before = prose(messages(page)).all_inner_texts()

    page.reload()

    assert prose(messages(page)).all_inner_texts() == before
    if compaction == divider.get_attribute("data-compaction"):
        expect(button(page, "Show archived messages")).to_be_visible()


def undo_and_compact_now(page: Page, data: Path) -> None:
    divider = page.locator("section[data-divider]")
    for _ in range(MOST_PRESSES):  # it may have folded twice, and then the older fold is there again
        wait_until_nothing_folds(page, data)
        if not divider.count():
            break
        press(page, "Undo", "/undo/")
    expect(divider).to_have_count(0)
    expect(messages(page).first).to_contain_text("bakery in Oxford")

    for _ in range(MOST_PRESSES):
        press(page, "Compact now", "/compact/")
        wait_until_nothing_folds(page, data)
        if divider.count():
            break
    expect(divider, str(outcomes(data))).to_be_visible()


def press(page: Page, name: str, address: str) -> None:
    with page.expect_response(lambda answer: answer.url.endswith(address)):
        button(page, name).click()


def wait_until_nothing_folds(page: Page, data: Path) -> None:
    """In the rows, and on the page, which may be behind them for a moment."""
    end = time.monotonic() + SLOW_MS / 1000
    while "running" in {status for _, status, _, _ in outcomes(data)}:
        assert time.monotonic() < end, outcomes(data)
        page.wait_for_timeout(100)
    expect(page.locator("[data-state=running]")).to_have_count(0)
    folds = page.locator("section[data-divider]")
    if compaction := in_force(data):
        expect(folds).to_have_attribute("data-compaction", str(compaction))
    else:
        expect(folds).to_have_count(0)


def in_force(data: Path) -> int | None:
    """The id of the applied compaction that speaks for the chat."""
    with sqlite3.connect(data / "foldline.sqlite3") as database:
        query = "SELECT id FROM chatapp_compaction WHERE status = 'applied' ORDER BY through_position DESC, id DESC"
        found = database.execute(query).fetchone()
        return found[0] if found else None


def move_the_threshold(page: Page) -> None:
    meter = page.locator("[data-meter]")
    chat = page.url
    expect(meter).to_have_attribute("data-window", "2048")
    before = int(meter.get_attribute("data-trigger") or 0)
    said = messages(page).count()

    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Threshold", exact=False).first.fill("50")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(chat)

    expect(meter).to_have_attribute("data-trigger", "1024")
    assert before != 1024
    expect(messages(page)).to_have_count(said)
