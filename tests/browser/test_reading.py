"""What makes a reply easy to read: formulas that are set, long messages that fold, times, code that wraps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.acting import Script, Visit, button, ended, last, messages, prose, say, send
from tests.browser.pictures import take_pictures
from tests.scripted import Signal, done, finish, head, hold, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]

FORMULAS = r"""The gas costs R$ 12,29 … R$ 15,83, with \(x_i^2 \le \alpha\), and $f(x) = \frac{1}{x}$:

$$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

- A matrix: \[\begin{pmatrix} a & b \\ c & d \end{pmatrix}\]
- A boxed one:

  \[
  \boxed{\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}}
  \]

| case | value |
|---|---|
| $f(x)$ | $\begin{cases} 1 & x > 0 \\ 0 & \text{otherwise}\end{cases}$ |

$$\sum_{k=0}^{n} \binom{n}{k} x^k y^{n-k} = (x+y)^n, \quad \pmb{v} = \hat{\theta}
+ \lim_{n\to\infty}\left(1 + \frac{1}{n}\right)^n + a + b + c + d + e + f + g$$

Code stays: `$x$`."""


def libraries(page: Page) -> int:
    return page.locator("head > script[src*=temml]").count()


def test_formulas_are_set_and_prices_stay_text(alice: Visit) -> None:
    page = alice.open(alice.chat("Tell me", FORMULAS))

    expect(last(page).locator("math")).to_have_count(8)
    expect(last(page)).to_contain_text("R$ 12,29 … R$ 15,83, with")
    expect(last(page).locator("code")).to_have_text("$x$")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    take_pictures(page, "formulas")


def test_the_library_is_fetched_with_the_first_formula_only(alice: Visit, page: Page, script: Script) -> None:
    alice.allow("htmx:afterRequest", "htmx:sendAbort")  # the meter may be asking when the page closes
    script.will(reply("A price of $5 and $10."), reply(r"So \(x\)."))
    say(page, "Hello")
    assert libraries(page) == 0

    expect(say(page, "More").locator("math")).to_have_count(1)
    assert libraries(page) == 1


def test_a_formula_is_set_once_while_the_rest_is_written(alice: Visit, page: Page, script: Script) -> None:
    alice.allow("htmx:afterRequest", "htmx:sendAbort")
    gates = [Signal() for _ in range(4)]
    script.will(
        [
            head(),
            text(r"So \(x^2"),
            hold(gates[0]),
            text(r"\) and"),
            hold(gates[1]),
            text(" on"),
            hold(gates[2]),
            text("\n\n$$\ny"),
            hold(gates[3]),
            text("\n$$\n\nend"),
            finish(),
            done(),
        ]
    )
    send(page, "Write")
    expect(last(page)).to_contain_text("x^2")
    assert last(page).locator("math").count() == 0

    gates[0].set()
    formula = last(page).locator("math").first
    expect(formula).to_have_text("x2")
    page.evaluate(
        """() => { window.unset = 0; new MutationObserver((all) => all.forEach(({ addedNodes }) => addedNodes.forEach(
            (node) => { window.unset += node.parentElement?.closest(".math:not([data-tex])") ? 1 : 0 })))
            .observe(document.getElementById("log"), { subtree: true, childList: true }); }"""
    )
    formula.evaluate("node => { node.seenBefore = true }")
    gates[1].set()
    expect(last(page)).to_contain_text("and on")
    assert formula.evaluate("node => node.seenBefore")
    gates[2].set()
    expect(last(page)).to_contain_text("$$ y")
    gates[3].set()

    expect(ended(page, count=2).locator("math")).to_have_count(2)
    assert page.evaluate("window.unset") == 0


def test_formulas_that_come_above_the_reader_do_not_move_what_is_read(alice: Visit) -> None:
    earlier = ["A formula?", "$$\\frac{\\frac{a}{b}}{\\frac{c}{d}}$$"] * 30
    page = alice.open(alice.chat(*earlier, *(f"message {number}" for number in range(40))))
    held: list[Route] = []
    page.route("**/earlier/**", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks its handlers)
    with page.expect_request("**/earlier/**"):
        page.get_by_role("link", name="Earlier messages").scroll_into_view_if_needed()
    page.wait_for_function(
        """() => { const { scrollTop } = document.getElementById("scroll");
            const rests = window.at === scrollTop; window.at = scrollTop; return rests; }"""
    )
    read = page.get_by_text("message 2", exact=True)
    before = read.bounding_box()
    assert libraries(page) == 0

    held[0].continue_()
    expect(page.locator("math").first).to_be_attached()
    page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")

    after = read.bounding_box()
    assert before
    assert after
    assert abs(after["y"] - before["y"]) < 2


def test_copying_gives_the_tex(visit: Callable[..., Visit]) -> None:
    alice = visit(permissions=["clipboard-read", "clipboard-write"])
    page = alice.open(alice.chat("Tell me", "So \\(x^2\\) is\n\n$$\\frac{1}{2}$$"))
    expect(last(page).locator("math")).to_have_count(2)

    def copied(selector: str) -> str:
        last(page).locator(selector).first.evaluate("node => getSelection().selectAllChildren(node)")
        page.keyboard.press("Control+C")
        return page.evaluate("navigator.clipboard.readText()")

    assert copied("math") == "x^2"
    assert copied("> .prose").split() == ["So", r"\(x^2\)", "is", r"\[\frac{1}{2}\]"]


@pytest.mark.parametrize(
    "tex",
    [
        r"\def\a{xx}\def\b{\a\a}\b",
        r"\newcommand{\a}{\a\a}\a",
        r"\href{javascript:alert(1)}{x}",
        r"\label{composer}x",
        r"\htmlId{composer}{x}",
        "{" * 300 + "x" + "}" * 300,
        r"\bar" * 900 + " x",
        r"\frac{1}",
    ],
)
def test_what_must_not_or_cannot_be_set_stays_readable(alice: Visit, tex: str) -> None:
    page = alice.open(alice.chat("Tell me", rf"So \({tex}\) and \(y\)."))

    expect(last(page).locator("math").last).to_have_text("y")
    assert page.evaluate("document.querySelectorAll('#composer').length") == 1
    expect(last(page).locator("a[href^=javascript]")).to_have_count(0)


def test_without_javascript_the_tex_is_readable(visit: Callable[..., Visit]) -> None:
    alice = visit(java_script_enabled=False)
    page = alice.open(alice.chat("Tell me", r"So \(x^2\)."))

    expect(prose(last(page))).to_have_text("So x^2.")


VERY_LONG = "\n\n".join(f"Paragraph {number}: bread wants time, warmth and patience." for number in range(90))


def height(message: Locator) -> float:
    box = prose(message).bounding_box()
    assert box
    return box["height"]


def test_a_very_long_message_is_folded_but_never_the_last(alice: Visit) -> None:
    page = alice.open(alice.chat("Tell me", VERY_LONG, "Again", VERY_LONG))
    folded = messages(page).nth(1)

    expect(button(folded, "Show all")).to_have_attribute("aria-expanded", "false")
    assert height(folded) < 700
    assert height(last(page)) > 1650
    expect(last(page).get_by_role("button", name="Show")).to_have_count(0)
    expect(messages(page).nth(0).get_by_role("button", name="Show")).to_have_count(0)
    button(folded, "Show all").scroll_into_view_if_needed()
    take_pictures(page, "long")
    page.emulate_media(media="print")
    assert height(folded) > 1650
    expect(button(folded, "Show all")).to_be_hidden()


def test_what_was_opened_stays_open_and_the_last_stays_whole(alice: Visit, script: Script) -> None:
    alice.allow("htmx:afterRequest", "htmx:sendAbort")
    page = alice.open(alice.chat("Tell me", VERY_LONG, "Again", VERY_LONG, model="vast"))
    opened = messages(page).nth(1)
    button(opened, "Show all").press("Enter")
    expect(button(opened, "Show less")).to_have_attribute("aria-expanded", "true")
    expect(button(opened, "Show less")).to_be_focused()

    reply_to_it = say(page, VERY_LONG)
    opened.get_by_label("More about this message").click()
    opened.get_by_role("button", name="Pin", exact=True).click()
    expect(opened).to_contain_text("Pinned")

    assert height(opened) > 1650
    expect(button(opened, "Show less")).to_have_attribute("aria-expanded", "true")
    assert height(messages(page).nth(3)) > 1650, "the former last reply was folded under the reader's eyes"
    expect(button(messages(page).nth(4), "Show all")).to_be_visible()
    expect(reply_to_it).to_contain_text("Indeed.")
    button(opened, "Show less").click()
    assert height(opened) < 700


def test_search_in_a_folded_message_opens_it(alice: Visit) -> None:
    page = alice.open(alice.chat("Tell me", VERY_LONG, "Again", "Indeed."))
    folded = messages(page).nth(1)
    expect(button(folded, "Show all")).to_be_attached()

    folded.get_by_text("Paragraph 80").evaluate("node => node.scrollIntoView()")

    expect(button(folded, "Show less")).to_be_attached()
    expect(folded.get_by_text("Paragraph 80")).to_be_in_viewport()


def test_times_are_words_with_the_exact_time_beside_them(visit: Callable[..., Visit]) -> None:
    alice = visit(timezone_id="America/Sao_Paulo", locale="en-GB")
    page = alice.open(alice.chat("Hello", "Hello to you."))
    time = last(page).locator("time[data-ago]")
    expect(time.locator("[aria-hidden]")).to_have_text("just now")

    def shown(changed: str) -> str:
        time.evaluate(
            f"""node => {{ const at = new Date(); {changed}; node.dateTime = at.toISOString();
                document.dispatchEvent(new Event("foldline:changed")); }}"""
        )
        return time.locator("[aria-hidden]").inner_text()

    assert shown("at.setMinutes(at.getMinutes() - 5, at.getSeconds() - 5)") == "5 minutes ago"
    assert shown("at.setDate(at.getDate() - 1), at.setHours(0)") == "yesterday"
    assert shown("at.setDate(at.getDate() - 3)") == "3 days ago"
    assert shown("at.setFullYear(2024, 2, 9)") == "9 Mar 2024"
    time.evaluate(
        "node => { node.dateTime = '2024-03-09T01:30:00Z'; document.dispatchEvent(new Event('foldline:changed')) }"
    )
    expect(time).to_have_attribute("title", "8 March 2024 at 22:30")
    expect(time.locator(".visually-hidden")).to_have_text("8 March 2024 at 22:30")


CODE = (
    "Look:\n\n```sh\n"
    "echo "
    + "a-very-long-line " * 30
    + "\n```\n\n| "
    + " | ".join(f"a column {number}" for number in range(12))
    + " |\n|"
    + "-|" * 12
    + "\n| "
    + " | ".join("value" for _ in range(12))
    + " |"
)


def test_code_wraps_in_all_boxes_and_after_a_reload(visit: Callable[..., Visit]) -> None:
    alice = visit(viewport={"width": 390, "height": 780})
    page = alice.open(alice.chat("Tell me", CODE))
    code = last(page).locator("pre")
    is_wider = "node => node.scrollWidth > node.clientWidth"
    assert code.evaluate(is_wider)
    assert last(page).locator(".table").evaluate(is_wider), "a wide table scrolls in a box of its own"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(button(last(page), "Wrap")).to_have_attribute("aria-pressed", "false")

    button(last(page), "Wrap").click()
    assert not code.evaluate(is_wider)
    page.reload()

    expect(button(last(page), "Wrap")).to_have_attribute("aria-pressed", "true")
    assert not code.evaluate(is_wider)
    take_pictures(page, "wrapped")
