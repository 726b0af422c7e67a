"""When a person sees the first message: a real page in headless Chromium, without a cache."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from bench.site import Site
from bench.table import Line, median, milliseconds

TIMES = 5
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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
"""


def measure(site: Site) -> Iterator[Line]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        yield Line("first message seen", "left out", "no Chromium here (CHROMIUM=/path names one)")
        return
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)
    except ImportError:
        yield Line("first message seen", "left out", "Playwright is not installed")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, length in CHATS.items():
            seconds = []
            for _ in range(TIMES):
                context = browser.new_context()
                context.add_cookies([{"name": "sessionid", "value": site.session, "url": site.server.url}])
                page = context.new_page()
                page.add_init_script(WATCH)
                page.goto(f"{site.server.url}/chats/{site.chats[name]}/")
                seconds.append(page.wait_for_function("window.seenAt").json_value() / 1000)
                context.close()
            remark = f"median of {TIMES}, nothing cached, from navigation on; Chromium {browser.version}"
            yield Line(f"first message seen, {length} messages", milliseconds(median(seconds)), remark)
        browser.close()
