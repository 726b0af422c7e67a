"""Text that wants to be a program: whatever the model or a person writes, nothing of it runs, live or reloaded."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import Script, Visit, button, ended, last, send
from tests.scripted import reply

pytestmark = [pytest.mark.browser, pytest.mark.server]

RUN = "window.ran=1"
CORPUS = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s></svg>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<a href='javascript:{RUN}'>press</a>",
    f"[press](javascript:{RUN})",
    f"[press](JaVaScRiPt&colon;{RUN})",
    "[press](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    f'![x](x"onerror="{RUN})',
    "![remote](https://tracker.invalid/pixel.png)",
    "<div hx-get='/admin/' hx-trigger='load'>x</div>",
    f"<div hx-on:htmx:load='{RUN}' hx-on-htmx-load='{RUN}'>x</div>",
    "<div data-hx-get='/admin/' data-hx-trigger='load'>x</div>",
    "<i data-changes data-since=0 data-revision=99999></i><div id=log hx-swap-oob=innerHTML></div>",
    "<form action=/chats/ method=post><button data-copy=x>Send</button></form>",
    "<style>body{display:none}</style><link rel=stylesheet href=//tracker.invalid/x.css>",
    f"<math><mtext></p><img src=x onerror={RUN}></mtext></math>",
    f"</template><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    "<base href=//tracker.invalid/><meta http-equiv=refresh content='0;url=//tracker.invalid/'>",
    f"```html\n<img src=x onerror={RUN}>\n```",
    f"`<img src=x onerror={RUN}>`",
]
ALL = "\n\n".join(CORPUS)
LIVE = (
    "script, iframe, object, embed, style, link, base, meta, svg *, [onerror], [onload],"
    " [onbegin], [ontoggle], [srcdoc], [hx-get], [data-hx-get], [data-changes], [hx-swap-oob]"
)


def assert_harmless(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    places = "#log .prose, #summary .prose, #archived .prose, #title, #sidebar-chats"
    found = page.evaluate(
        """([places, live]) => [...document.querySelectorAll(places)].flatMap(
            (place) => [...place.querySelectorAll(live)].map((node) => node.outerHTML))""",
        [places, LIVE],
    )
    assert found == []
    links = page.evaluate("[...document.querySelectorAll('#log a, #summary a')].map((link) => link.protocol)")
    assert {"javascript:", "data:"}.isdisjoint(links)
    assert page.evaluate("[...document.images].map((image) => image.src)") == []
    assert page.evaluate("getComputedStyle(document.body).display") != "none"


def watch_requests(alice: Visit) -> list[str]:
    asked: list[str] = []
    alice.context.on("request", lambda request: asked.append(request.url))
    return asked


def test_nothing_runs_of_text_reasoning_and_title(alice: Visit, script: Script) -> None:
    asked = watch_requests(alice)
    page = alice.open("/")
    script.will(reply(ALL, thoughts=ALL))
    script.title = reply("A <img src=x onerror=window.ran=1> title")
    send(page, ALL)
    page.wait_for_url("**/chats/**")

    ended(page, count=2)
    expect(page.get_by_role("heading", level=1)).to_contain_text("title")
    last(page).locator("details.reasoning summary").click()
    assert_harmless(page)
    page.reload()
    ended(page, count=2)
    assert_harmless(page)
    assert [url for url in asked if "tracker" in url or "/admin/" in url] == []


def test_nothing_runs_of_archived_text_and_summary(alice: Visit) -> None:
    asked = watch_requests(alice)
    page = alice.open(alice.chat(ALL, ALL, "Well", "Yes.", folded_through=1, summary=ALL))
    button(page, "Show archived messages").click()
    button(page, "Read summary").click()

    expect(page.locator("#archived article")).to_have_count(2)
    assert_harmless(page)
    assert [url for url in asked if "tracker" in url or "/admin/" in url] == []


def test_nothing_runs_of_a_title_given_by_hand(alice: Visit) -> None:
    path = alice.chat("Hello", "Hello to you.")
    page = alice.open(f"{path}rename/")
    page.get_by_label("Title").fill("</title><script>window.ran=1</script><img src=x onerror=window.ran=1>")
    button(page, "Rename").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>")
    assert_harmless(page)
    page.goto(f"{path}delete/")
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("words", ["R$ 12,29 and R$ 15,83", "\u202eright to left\u202c", "a\u200bb", "![" * 2_000])
def test_odd_text_is_shown_as_it_is(alice: Visit, script: Script, words: str) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    script.will(reply(words))
    send(page, words)

    reply_shown = ended(page, count=4)
    assert json.dumps(words.strip("\u202e\u202c")[:20])[1:-1] in json.dumps(reply_shown.inner_text())
