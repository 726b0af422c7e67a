"""Text that wants to be a program: wherever it is shown, nothing of it runs, and nothing is fetched for it.

The corpus is in every column of a person's rows and of the admin's; then every address of the URL configuration is
opened, and each fragment put into a page by htmx as the page itself does it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Request, WebSocket, expect

from tests.browser.acting import Script, Visit, button, ended, last, send
from tests.browser.poisoned import ALL, LIVE, clean_admin, poison_admin, poison_person
from tests.doors.routes import Route, Who, all_routes
from tests.hostile import PAYLOADS
from tests.scripted import done, finish, head, json_error, reasoning, reply, text
from tests.shapes import Served

pytestmark = [pytest.mark.browser, pytest.mark.server]

# What a payload may call, and what else would be heard of it; each is a complaint, which fails the test.
CANARY = """
    window.ran = () => console.error("the canary ran");
    document.addEventListener("securitypolicyviolation", ({ blockedURI }) => console.error("by policy", blockedURI));
    for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => console.error(name);
"""
ACTIVE = (
    "script:not([src^='/static/'], [src='/admin/jsi18n/'], [type='application/json']),"
    " iframe, object, embed, link:not([href^='/']), base, meta[http-equiv], svg script,"
    " [srcdoc], [ping], [href^='javascript:' i], [href^='data:' i], [src*=tracker], [srcset], [hx-get*='?canary'],"
    " [hx-post*='?canary'], [data-hx-get], [action*=tracker], [formaction*=tracker], [style*=tracker], [shadowrootmode]"
)
SWAP_IN = """(path) => {
    const place = document.getElementById("piece") || document.body.appendChild(document.createElement("div"));
    place.id = "piece";
    return htmx.ajax("GET", path, { target: place, swap: "innerHTML" });
}"""
# What a page fetches for itself.
OWN = re.compile(
    r"/static/.*|/favicon.*|/manifest.webmanifest|/service-worker.js|/meter/|/draft/|/chats/list/.*|/admin/jsi18n/"
    r"|/chats/[-0-9a-f]{36}/[a-z]+/(\?before=\d+)?"
)
# What a browser says of what takes only posts, wants a second factor first, or isn't there.
REFUSED = tuple(f"{words} {code}" for code in (403, 404, 405) for words in ("status of", "Status Error Code"))
DOWNLOADS = {
    "export_chat",
    "export_markdown",
    "export_all",
    "export_all_markdown",
    "file",
    "admin:chatapp_auditentry_export",
}


def assert_harmless(page: Page) -> None:
    found = page.evaluate(
        """(live) => [...document.querySelectorAll("*")].filter(
            (node) => node.matches(live) || node.getAttributeNames().some((name) => /^on|^(data-)?hx-on/.test(name))
        ).map((node) => node.outerHTML.slice(0, 200))""",
        ACTIVE,
    )
    assert found == []
    assert page.evaluate("getComputedStyle(document.body).display") != "none"


class Watched:
    """Every request and socket of a browser; each must be the page that is opened, or one that any such page makes."""

    def __init__(self, visit: Visit, base_url: str) -> None:
        self.base_url, self.opened, self.strange = base_url, "", list[str]()
        visit.context.add_init_script(CANARY)
        visit.context.on("request", self._note)
        visit.context.on("page", lambda page: page.on("websocket", self._note_socket))

    def _note(self, request: Request) -> None:
        path = request.url.removeprefix(self.base_url)
        if request.redirected_from and path.startswith("/"):
            return
        if path != self.opened and not OWN.fullmatch(path) and not path.startswith("data:"):
            self.strange.append(f"{path} on {self.opened}")

    def _note_socket(self, socket: WebSocket) -> None:
        if not socket.url.startswith(f"{self.base_url.replace('http', 'ws', 1)}/ws/"):
            self.strange.append(f"{socket.url} on {self.opened}")

    def open(self, page: Page, path: str) -> None:
        self.opened = path
        page.goto(path)
        assert_harmless(page)
        assert self.strange == []

    def swap_in(self, page: Page, path: str) -> None:
        """As the page itself does, where a fragment's own attributes would begin to act."""
        self.opened = path
        page.evaluate(SWAP_IN, path)
        assert_harmless(page)
        assert self.strange == []


def readable(who: set[Who], *, but: set[str] = DOWNLOADS) -> Iterator[Route]:
    return (route for route in all_routes() if route.door and route.door.who in who and route.name not in but)


def test_nothing_runs_on_any_page_of_a_person(alice: Visit, server: Served) -> None:
    """What htmx puts into a page piece by piece, all messages of a chat among it; then each address as a page."""
    ids = alice.rows(lambda: poison_person(User.objects.get(username=alice.name)))
    watched, page = Watched(alice, server.url), alice.context.new_page()
    addresses = [route.address(ids) for route in readable({Who.PERSON, Who.BY_LINK}) if set(route.ids) <= ids.keys()]
    chat = f"/chats/{ids['chat_id']}/"

    shared = f"/s/{ids['token']}/"
    pages = ["/?most=1000", "/search/?q=ran", *(f"{shared}?from={start}" for start in range(0, 2 * len(PAYLOADS), 100))]
    pages += [f"{chat}?archived&here=ran", chat]
    pieces = [f"{chat}archived/?before={position}" for position in range(LIVE, 2 * len(PAYLOADS), LIVE)]
    pieces += ["/search/chats/?q=ran", f"{chat}find/?here=ran", f"{chat}request/", "/presets/options/", "/chats/list/"]

    alice.allow(*REFUSED)
    watched.open(page, "/")
    for address in pieces:
        watched.swap_in(page, address)
    for address in [*addresses, *pages]:
        watched.open(page, address)


def test_nothing_runs_on_any_page_of_the_admin(visit: Callable[..., Visit], server: Served) -> None:
    """Names that endpoints give their models, what they answered, people's names, and what the audit log holds."""
    sam = visit(is_staff=True)
    watched, page = Watched(sam, server.url), sam.context.new_page()
    sam.allow(*REFUSED)
    before, newest = sam.rows(poison_admin)
    try:
        for route in readable({Who.STAFF}):
            model = route.template.split("/")[2:3]
            number = newest.get(*model, 1) if model else 1
            ids = dict.fromkeys(("object_id", "pk", "id"), number) | {
                "app_label": "chatapp",
                "content_type_id": 1,
                "url": "x/",
            }
            watched.open(page, route.address(ids))
        watched.open(page, "/")  # the picker of models, and presets for everybody
    finally:
        sam.rows(clean_admin, before)


def test_nothing_runs_while_it_is_written(alice: Visit, script: Script, server: Served) -> None:
    """Cut at every seventh character: thoughts and text; a title that a model gives; what an endpoint refuses with."""
    watched, page = Watched(alice, server.url), alice.context.new_page()
    watched.open(page, "/")
    pieces = [ALL[start : start + 7] for start in range(0, len(ALL), 7)]
    script.will([head(), *map(reasoning, pieces), *map(text, pieces), finish(), done()])
    script.title = reply("A <img src=x onerror=ran()> title")
    watched.opened = "/chats/"
    send(page, ALL)
    page.wait_for_url(re.compile("/chats/.+"))
    ended(page, count=2)
    expect(page.locator("#title")).to_contain_text("title")
    last(page).locator("details.reasoning summary").click()
    assert_harmless(page)
    script.will(json_error(400, "</p><script>ran()</script><img src=x onerror=ran()>"))
    send(page, "Once more")
    ended(page, count=4, status="failed")
    expect(last(page)).to_contain_text("refused the request")
    assert_harmless(page)
    assert page.evaluate("[...document.images].map((image) => image.src)") == []
    assert [request for request in watched.strange if not request.startswith("/chats/")] == []


def test_nothing_runs_of_a_title_given_by_hand(alice: Visit) -> None:
    path = alice.chat("Hello", "Hello to you.")
    alice.context.add_init_script(CANARY)
    page = alice.open(f"{path}rename/")
    page.get_by_label("Title").fill("</title><script>ran()</script><img src=x onerror=ran()>")
    button(page, "Rename").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>")
    assert_harmless(page)


@pytest.mark.parametrize("words", ["R$ 12,29 and R$ 15,83", "\u202eright to left\u202c", "a\u200bb", "![" * 2_000])
def test_odd_text_is_shown_as_it_is(alice: Visit, script: Script, words: str) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    script.will(reply(words))
    send(page, words)

    reply_shown = ended(page, count=4)
    assert json.dumps(words.strip("\u202e\u202c")[:20])[1:-1] in json.dumps(reply_shown.inner_text())
