"""A reply while it is written: in blocks, over reloads, in two tabs, across lost connections, and stopped."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Script, Visit, box, button, ended, last, messages, prose, say, send, shown_text
from tests.browser.server_rows import ServerRows
from tests.scripted import Signal, done, finish, head, hold, pause, reasoning, reply_tokens, text

pytestmark = [pytest.mark.browser, pytest.mark.server]

WORDS = [f"word{number} " for number in range(200)]
LONG = "Bread wants time, warmth and patience, and then some more of each. " * 12


def path_of(page: Page) -> str:
    return page.evaluate("location.pathname")


def test_finished_blocks_stay_while_the_rest_is_written(page: Page, script: Script) -> None:
    gate = script.will_hold("The **first** paragraph.\n\n", "The second\n", "one")
    send(page, "Tell me")

    expect(last(page)).to_contain_text("The second one")
    expect(prose(last(page)).first.locator("strong")).to_have_text("first")
    prose(last(page)).locator("p").first.evaluate("node => { node.seenBefore = true }")
    gate.set()

    reply = ended(page, count=2)
    expect(reply).to_contain_text("The second one The end.")
    assert prose(reply).locator("p").first.evaluate("node => node.seenBefore"), (
        "the paragraph was thrown away and made again"
    )


def test_reload_in_mid_stream_holds_all_so_far_and_goes_on(page: Page, script: Script, rows: ServerRows) -> None:
    gate = Signal()
    script.will([head(), *map(text, WORDS[:50]), hold(gate), *map(text, WORDS[50:]), finish(), done()])
    send(page, "Count")
    expect(last(page)).to_contain_text("word49")

    html = page.request.get(page.url).text()
    page.reload()

    assert "word0 " in html
    assert "word49" in html
    expect(last(page)).to_contain_text("word49")
    gate.set()
    reply = ended(page, count=2)
    expect(reply).to_contain_text("word199")
    assert shown_text(reply) == rows.last_text(path_of(page)).strip() == "".join(WORDS).strip()


def test_a_cut_reply_goes_on_in_every_tab_and_over_a_reload(alice: Visit, script: Script) -> None:
    script.will(reply_tokens(["**Bread** wants time.\n\n", "It wants"], finish_reason="length"))
    path = alice.chat("Hello", "Hello to you.")
    first, second = alice.open(path), alice.open(path)
    cut_reply = say(first, "Tell me")
    expect(cut_reply).to_contain_text("breaks off here")
    gate = script.will_hold(" warmth")

    button(first, "Continue").click()
    for page in (first, second):
        expect(last(page)).to_contain_text("It wants warmth")
    second.reload()
    expect(last(second)).to_contain_text("It wants warmth")
    gate.set()

    for page in (first, second):
        whole = ended(page, count=4)
        expect(prose(whole)).to_contain_text("It wants warmth The end.")
        expect(button(page, "Continue")).to_have_count(0)
        assert shown_text(whole) == "Bread wants time.\n\nIt wants warmth The end."
    first.reload()
    assert shown_text(last(first)) == "Bread wants time.\n\nIt wants warmth The end."


def test_b5_thoughts_that_filled_the_window_are_withdrawn_and_the_reply_comes(alice: Visit, script: Script) -> None:
    gate = Signal()
    script.will(
        [head(), reasoning("A vain thought. "), hold(gate), finish("length", usage=(1_500, 6_000)), done()],
        reply_tokens(["At ", "last."]),
    )
    page = alice.open(alice.chat(*[f"{number}: {LONG}" for number in range(8)]))
    send(page, "Go on")
    expect(last(page).get_by_text("Reasoning")).to_be_visible()
    gate.set()

    expect(page.locator("#crease")).to_be_visible()
    expect(last(page)).to_have_attribute("data-status", "complete")
    expect(last(page)).to_contain_text("At last.")
    expect(last(page).get_by_text("Reasoning")).to_have_count(0)


def test_two_tabs_show_the_same(alice: Visit, script: Script) -> None:
    path = alice.chat("Hello", "Hello to you.")
    first, second = alice.open(path), alice.open(path)
    gate = script.will_hold("Some words")

    send(first, "Tell both of us")

    expect(last(second)).to_contain_text("Some words")
    expect(button(second, "Stop")).to_be_visible()
    gate.set()
    one, other = ended(first, count=4), ended(second, count=4)
    assert shown_text(one) == shown_text(other) == "Some words The end."
    expect(prose(messages(second).nth(2))).to_have_text("Tell both of us")


def test_stop_from_the_other_tab_keeps_the_text(alice: Visit, script: Script, rows: ServerRows) -> None:
    path = alice.chat("Hello", "Hello to you.")
    first, second = alice.open(path), alice.open(path)
    script.will_hold("What there is")
    send(first, "Go on")
    expect(last(second)).to_contain_text("What there is")

    pressed = time.monotonic()
    button(second, "Stop").click()
    expect(last(first)).to_have_attribute("data-status", "stopped")

    assert time.monotonic() - pressed < 2, "half a second where nothing else is running"
    for tab in (first, second):
        expect(ended(tab, count=4, status="stopped")).to_contain_text("What there is")
        expect(last(tab)).to_contain_text("Stopped. What was written is kept.")
        expect(button(tab, "Send")).to_be_visible()
    assert rows.last_text(path) == "What there is"


@pytest.mark.parametrize("tokens", [0, 1, 50])
def test_stop_after_any_number_of_tokens_leaves_a_whole_page(page: Page, script: Script, tokens: int) -> None:
    script.will_hold(*WORDS[:tokens])
    send(page, "Count")
    expect(last(page)).to_have_attribute("data-status", "streaming")
    if tokens:
        expect(last(page)).to_contain_text(f"word{tokens - 1}")

    button(page, "Stop").click()

    reply = ended(page, count=2, status="stopped")
    assert shown_text(reply).split() == "".join(WORDS[:tokens]).split()
    assert shown_text(say(page, "And now?")) == "Indeed."


def test_second_click_of_a_double_click_on_send_does_not_stop_the_reply(page: Page, script: Script) -> None:
    gate = script.will_hold("Some words")
    box(page).fill("Go on")
    at = button(page, "Send").bounding_box()
    assert at
    page.mouse.click(at["x"] + 5, at["y"] + 5)
    expect(last(page)).to_contain_text("Some words")

    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    gate.set()

    assert shown_text(ended(page, count=2)) == "Some words The end."


def test_going_to_another_chat_and_back_finds_text_and_stop(alice: Visit, script: Script) -> None:
    other = alice.chat("Elsewhere", "Quite.")
    page = alice.open(
        alice.chat(
            "Hello",
            "Hello to you.",
        )
    )
    gate = script.will_hold("Long thoughts")
    send(page, "Think")
    expect(last(page)).to_contain_text("Long thoughts")

    back = path_of(page)
    page.goto(other)
    expect(last(page)).to_contain_text("Quite.")
    expect(button(page, "Send")).to_be_visible()
    page.goto(back)

    expect(last(page)).to_contain_text("Long thoughts")
    expect(button(page, "Stop")).to_be_visible()
    gate.set()
    assert shown_text(ended(page, count=4)) == "Long thoughts The end."


def test_opened_reasoning_stays_open_through_stream_and_end(page: Page, script: Script) -> None:
    gate = Signal()
    thoughts = [reasoning(f"thought{number}\n\n" if number % 10 == 0 else f"thought{number} ") for number in range(200)]
    script.will([head(), *thoughts[:20], hold(gate), *thoughts[20:], text("The answer."), finish(), done()])
    send(page, "Think")
    expect(last(page).locator("summary")).to_be_visible()

    last(page).locator("summary").click()
    expect(last(page).get_by_text("thought19")).to_be_visible()
    gate.set()

    reply = ended(page, count=2)
    expect(reply.locator("details.reasoning")).to_have_attribute("open", "")
    expect(reply.locator("details.reasoning > summary")).to_have_text(re.compile("^Thought for"))
    expect(reply.get_by_text("thought199")).to_be_visible()
    assert shown_text(reply) == "The answer."


def test_code_fence_a_character_at_a_time_shows_no_stray_backticks(page: Page, script: Script) -> None:
    source = "Here:\n\n```python\nprint('hi')\n```\n\nDone."
    page.add_init_script(
        """addEventListener("DOMContentLoaded", () => {
            window.seen = new Set();
            const look = () => document.querySelectorAll("article[data-role=assistant] > .prose").forEach(
              (prose) => window.seen.add(prose.textContent));
            new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
        });"""
    )
    page.reload()
    gate = Signal()
    beginning, rest = reply_tokens(list(source[:3]))[:-3], reply_tokens(list(source[3:]), delay=0.03)[2:]
    script.will([*beginning, hold(gate), *rest])
    send(page, "Code, please")
    expect(last(page)).to_contain_text("Her")
    gate.set()

    expect(ended(page, count=2).locator("pre code")).to_have_text("print('hi')\n")
    seen = page.evaluate("[...window.seen]")
    assert len(seen) > 5
    assert [words for words in seen if "`" in words] == []


def test_screen_reader_hears_the_start_and_the_end_once(alice: Visit, script: Script) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    page.evaluate(
        """() => { window.heard = []; const status = document.querySelector("[role=status]");
            new MutationObserver(() => window.heard.push(status.textContent)).observe(
              status, { childList: true, characterData: true, subtree: true }); }"""
    )
    script.will(reply_tokens(WORDS[:60], delay=0.01))
    send(page, "Speak")
    ended(page, count=4)

    page.wait_for_function("window.heard.length >= 2")
    assert page.evaluate("window.heard") == ["Writing a reply.", "The reply is finished."]


LONG = "\n\n".join(f"Paragraph {number}: " + "bread wants time, warmth and patience. " * 8 for number in range(8))


@pytest.fixture
def long_page(alice: Visit) -> Page:
    page = alice.open(alice.chat("Tell me", LONG, "More", LONG))
    page.wait_for_function("(() => { const s = document.getElementById('scroll'); return s.scrollTop > 500 })()")
    return page


def place_of(page: Page, words: str) -> float:
    return page.get_by_text(words).last.bounding_box()["y"]


def test_reading_above_is_not_moved_by_what_is_written_below(long_page: Page, script: Script) -> None:
    page, gate = long_page, Signal()
    lines = [f"Line {number}\n\n" for number in range(30)]
    script.will(
        [
            head(),
            *map(text, lines[:3]),
            hold(gate),
            *[step for line in lines[3:] for step in (pause(0.02), text(line))],
            finish(),
            done(),
        ]
    )
    send(page, "Write")
    expect(last(page)).to_contain_text("Line 2")
    page.locator("#scroll").hover()
    page.mouse.wheel(0, -300)
    expect(button(page, "Jump to latest")).to_be_visible()
    page.wait_for_function(
        """() => { const { scrollTop } = document.getElementById("scroll");
            const rests = window.at === scrollTop; window.at = scrollTop; return rests; }"""
    )
    before = place_of(page, "Paragraph 7")

    gate.set()
    ended(page, count=6)

    assert abs(place_of(page, "Paragraph 7") - before) < 2
    button(page, "Jump to latest").click()
    expect(last(page).get_by_text("Line 29")).to_be_in_viewport()
    expect(button(page, "Jump to latest")).to_be_hidden()


@pytest.mark.parametrize("way", ["wheel", "key", "scrollbar", "touch"])
def test_any_way_up_releases_the_follow(long_page: Page, script: Script, way: str) -> None:
    page = long_page
    gate = script.will_hold("Some words\n\n" * 20)
    send(page, "Write")
    expect(last(page)).to_contain_text("Some words")

    if way == "wheel":
        page.locator("#scroll").hover()
        page.mouse.wheel(0, -400)
    elif way == "key":
        box(page).press("PageUp")
    elif way == "touch":
        page.locator("#scroll").evaluate(
            "scroll => scroll.dispatchEvent(new Event('touchmove')) && scroll.scrollBy(0, -60)"
        )
    else:
        page.locator("#scroll").evaluate("scroll => { scroll.scrollTop -= 400 }")
    expect(button(page, "Jump to latest")).to_be_visible()

    gate.set()
    ended(page, count=6)
    expect(button(page, "Jump to latest")).to_be_visible()


def test_follows_the_end_while_one_stays_there(long_page: Page, script: Script) -> None:
    script.will(reply_tokens([f"Line {number}\n\n" for number in range(40)], delay=0.01))
    send(long_page, "Write")

    ended(long_page, count=6)

    expect(last(long_page).get_by_text("Line 39")).to_be_in_viewport()
    expect(button(long_page, "Jump to latest")).to_be_hidden()
