"""When the first message is seen, how many nodes there are, how soon a key is seen: in headless Chromium, uncached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bench.driving import NoBrowser, chromium
from bench.site import Site
from bench.size import sized
from bench.table import Line, timed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TIMES = sized(5, 2)
CHATS = {"20 measured": "20", "2000 measured": "2,000", "10000 measured": "10,000", "10000 folded": "10,000, folded"}

# Noted before the first picture with an article within the window; by the page's own clock, from navigation on.
WATCH = """
const look = () => {
  const seen = [...document.querySelectorAll("article[data-message]")].some((article) => {
    const box = article.getBoundingClientRect();
    return box.height && box.bottom > 0 && box.top < innerHeight;
  });
  if (seen) window.seenAt = performance.now(); else requestAnimationFrame(look);
};
requestAnimationFrame(look);
window.keys = [];
addEventListener("keydown", ({ timeStamp }) => {
  requestAnimationFrame(() => setTimeout(() => window.keys.push(performance.now() - timeStamp)));
}, true);
"""
TYPED = "the quick brown fox"


def measure(site: Site) -> Iterator[Line]:
    try:
        with chromium() as browser:
            for name, length in CHATS.items():
                if name in site.chats:
                    yield from _chat(browser, site, name, length)
    except NoBrowser as error:
        yield Line("first message seen", "left out", str(error))


def _chat(browser: Browser, site: Site, name: str, length: str) -> Iterator[Line]:
    looks = [_look(browser, site, name) for _ in range(TIMES)]
    seen, nodes, keys = (list(each) for each in zip(*looks, strict=True))
    remark = f"nothing cached, from navigation on; Chromium {browser.version}"
    yield timed(f"first message seen, {length} messages", seen, remark)
    yield Line(f"nodes, {length} messages", f"{max(nodes):,}", "elements in the document")
    pressed = [key for each in keys for key in each]
    yield timed(f"a key, {length} messages", pressed, "from a key to the picture with its letter")


def _look(browser: Browser, site: Site, name: str) -> tuple[float, int, list[float]]:
    """Seconds to the first message, nodes of the page, and seconds a key."""
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": site.session, "url": site.server.url}])
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{site.server.url}/chats/{site.chats[name]}/")
    seen = page.wait_for_function("() => window.seenAt").json_value() / 1000
    nodes = page.evaluate("document.querySelectorAll('*').length")
    page.locator("#text").press_sequentially(TYPED, delay=40)
    page.wait_for_function("(count) => window.keys.length >= count", arg=len(TYPED))
    keys = [key / 1000 for key in page.evaluate("window.keys")]
    context.close()
    return seen, nodes, keys
