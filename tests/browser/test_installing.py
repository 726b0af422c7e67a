"""Installed, and the server away: one plain page says so, and nothing of anybody is kept in the browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.acting import Visit, box
from tests.browser.pictures import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_server_that_is_away_is_told_by_a_plain_page_and_what_was_typed_comes_back(
    visit: Callable[..., Visit],
) -> None:
    alice = visit(service_workers="allow")
    alice.allow("ERR_INTERNET_DISCONNECTED", "Failed to load resource", "WebSocket connection", "htmx:")
    page = alice.open(alice.chat("Hello", "A private word."))
    page.wait_for_function("() => navigator.serviceWorker.controller")
    box(page).fill("Half a thought")

    alice.context.set_offline(True)
    page.reload()

    expect(page.get_by_role("heading", level=1)).to_have_text("Foldline can’t be reached")
    expect(page.get_by_text("What you typed is kept in this browser.")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily").startswith('"Iowan')
    take_pictures(page, "offline-page")
    kept = page.evaluate(
        """async () => (await Promise.all((await caches.keys()).map(async (name) =>
            Promise.all((await (await caches.open(name)).matchAll()).map(async (each) =>
                [new URL(each.url).pathname, await each.text()]))))).flat()"""
    )
    assert "/offline/" in [path for path, _ in kept]
    assert not [path for path, _ in kept if not path.startswith(("/offline/", "/static/"))]
    assert not [path for path, text in kept if "A private word" in text or alice.name in text]

    alice.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_text("A private word.")).to_be_visible()
    expect(box(page)).to_have_value("Half a thought")


def test_proxy_that_speaks_for_a_dead_server_is_away_too(visit: Callable[..., Visit]) -> None:
    alice = visit(service_workers="allow")
    page = alice.open("/")
    page.wait_for_function("() => navigator.serviceWorker.controller")

    worker = alice.context.service_workers[0]
    worker.evaluate("self.fetch = async () => new Response('Bad gateway', { status: 502 })")
    page.reload()

    expect(page.get_by_role("heading", level=1)).to_have_text("Foldline can’t be reached")
