"""One driver for every product's page in headless Chromium: open it, send, see the first character, wait for the end.

All that differs between products is told by `Product`. Times are by the page's own clock; what is looked for is the
stamps that the scripted endpoint writes into its tokens, so that no product's markup has to be known.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.endpoint import STAMPED_EVERY, now, order

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing but this machine is asked for anything: a page that wants fonts from elsewhere goes without, at once.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
PATIENCE_SECONDS = 60
STILL_SECONDS = 1.0

# Notes when the box is there, and when Enter was pressed.
WATCH = """(() => {
  const look = () => {
    const box = document.querySelector(%s);
    if (box?.getBoundingClientRect().height) window.benchOpened = performance.now(); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  addEventListener("keydown", ({ key, timeStamp }) => { if (key === "Enter") window.benchEntered = timeStamp; }, true);
})();"""
# Looks at what is added alone, and only until the first stamp written since; noted behind the picture that has it.
AWAIT_FIRST = """(since) => {
  window.benchPainted = null;
  const isFresh = (text) => [...text.matchAll(/t(\\d{9,})t/g)].some(([, at]) => Number(at) > since);
  const observer = new MutationObserver((changes) => {
    const texts = changes.flatMap(({ target, addedNodes, type }) =>
      type === "characterData" ? [target.data] : [...addedNodes].map((node) => node.textContent));
    if (!texts.some(isFresh)) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.benchPainted = performance.now(); }));
  });
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
}"""
IS_WHOLE = """([since, count]) => {
  const stamps = [...document.body.textContent.matchAll(/t(\\d{9,})t/g)].map(([, at]) => Number(at));
  return new Set(stamps.filter((at) => at > since)).size >= count;
}"""


class NoBrowser(Exception):
    """Says why there is none."""


@dataclass(frozen=True, slots=True)
class Running:
    """A product that runs: its first page, the process that serves it, and the cookies of someone who is signed in."""

    url: str
    pid: int
    start_seconds: float = 0.0
    cookies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Product:
    """`box` is the CSS selector of what one writes into; `serve` runs it over the endpoint at that base URL.

    `computes`: the page is served by what answers itself, so that its processor time says nothing of the page.
    `dismiss`: the name of a button that is in the way of a new person.
    """

    name: str
    version: str
    box: str
    serve: Callable[[str], AbstractContextManager[Running]]
    computes: bool = False
    dismiss: str = ""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Raises NoBrowser."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise NoBrowser("no Chromium here (CHROMIUM=/path names one)")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)
    except ImportError:
        raise NoBrowser("Playwright is not installed") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        yield browser
        browser.close()


class Window:
    """A new person's window with nothing cached, at a product's first page once it was opened."""

    def __init__(self, browser: Browser, product: Product, running: Running) -> None:
        self.product, self.running = product, running
        self.context = browser.new_context(service_workers="block")
        self.context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.context.add_cookies(
            [{"name": name, "value": value, "url": running.url} for name, value in running.cookies.items()]
        )
        self.page = self.context.new_page()
        self.page.add_init_script(WATCH % json.dumps(product.box))
        self.bytes_read = self.requests = 0
        self._since = 0.0
        self._devtools = self.context.new_cdp_session(self.page)
        self._devtools.send("Performance.enable")
        self._devtools.send("Network.enable")
        self._devtools.on("Network.loadingFinished", self._note)

    def _note(self, event: dict[str, float]) -> None:
        self.bytes_read += int(event["encodedDataLength"])
        self.requests += 1

    def open(self) -> float:
        """Seconds from navigation until the box is there; `bytes_read` then counts what came until all was still."""
        self.page.goto(self.running.url)
        opened: float = self.page.wait_for_function("() => window.benchOpened").json_value()
        known, still_since = -1, time.monotonic()
        while time.monotonic() - still_since < STILL_SECONDS:
            if self.bytes_read != known:
                known, still_since = self.bytes_read, time.monotonic()
            self.page.wait_for_timeout(100)
        return opened / 1000

    def dismiss(self) -> None:
        """What greets a new person and lies over the page."""
        if self.product.dismiss:
            self.page.get_by_role("button", name=self.product.dismiss).click()

    def send(self, tokens: int, *, rate: int) -> None:
        """Asks for a reply of so many tokens, so many a second, by the Enter key."""
        box = self.page.locator(self.product.box).first
        box.fill(order(tokens, rate=rate))
        self._since = now() * 1_000_000
        self.page.evaluate(AWAIT_FIRST, self._since)
        box.press("Enter")

    def first_painted(self) -> float:
        """Seconds from Enter to the picture with the reply's first character."""
        painted: float = self.page.wait_for_function("() => window.benchPainted", polling=50).json_value()
        entered: float = self.page.evaluate("window.benchEntered")
        return (painted - entered) / 1000

    def wait_for_end(self, tokens: int) -> None:
        """Until the last stamped token of so many is on the page."""
        stamped = math.ceil(tokens / STAMPED_EVERY)
        self.page.wait_for_function(IS_WHOLE, arg=[self._since, stamped], polling=250)

    def main_thread_seconds(self) -> float:
        """What the page's main thread has worked since it began."""
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))

    def close(self) -> None:
        self.context.close()
