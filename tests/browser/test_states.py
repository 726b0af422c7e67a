"""Empty, slow and broken: what the page says then, and the way on from there."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from chatapp.models import Endpoint, LanguageModel
from tests.browser.acting import Script, Visit, box, button, ended, last, say, send
from tests.browser.pictures import take_pictures
from tests.browser.server_rows import ServerRows
from tests.scripted import Signal, head, hold, json_error, reply

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def chat(alice: Visit) -> Page:
    return alice.open(alice.chat("Hello", "Hello to you."))


@pytest.fixture
def no_model(rows: ServerRows) -> Iterator[None]:
    rows(LanguageModel.objects.update, enabled=False)
    yield
    rows(LanguageModel.objects.update, enabled=True)


@pytest.fixture
def endpoint_down(rows: ServerRows) -> Iterator[None]:
    at = timezone.now() - timedelta(minutes=5)
    rows(Endpoint.objects.update, check_outcome="unreachable: no route to host", checked_at=at)
    yield
    rows(Endpoint.objects.update, check_outcome="")


def banner(page: Page) -> Locator:
    return page.locator("#banner")


# Measured in the page: how long this test waits for its turn on a busy machine says nothing of Foldline.
TIMES_THE_BANNER = """() => {
    const banner = document.getElementById("banner");
    window.times = {};
    const note = (what) => { window.times[what] ??= performance.now(); };
    for (const what of ["offline", "closed"]) addEventListener(what, () => note(what));
    const look = () => banner.hidden || note(`named ${banner.dataset.cause}`);
    new MutationObserver(look).observe(banner, { attributes: true });
}"""


def seconds_between(page: Page, event: str, cause: str) -> float:
    times = page.evaluate("window.times")
    return (times[f"named {cause}"] - times[event]) / 1000


def test_first_chat_offers_examples_that_fill_the_box_and_send_nothing(page: Page, script: Script) -> None:
    asked = len(script.endpoint.requests)
    take_pictures(page, "state-first-chat")
    box(page).fill("In short:")

    page.get_by_role("link", name="why bread rises").click()

    expect(box(page)).to_have_value("In short:\n\nExplain to me, as if I were ten, why bread rises.")
    expect(box(page)).to_be_focused()
    assert len(script.endpoint.requests) == asked
    say(page, "Hello")
    page.goto("/")
    expect(page.get_by_role("link", name="why bread rises")).to_have_count(0)


def test_example_fills_the_box_without_javascript(visit: Callable[..., Visit]) -> None:
    page = visit(java_script_enabled=False).open("/")

    page.get_by_role("link", name="why bread rises").click()

    expect(box(page)).to_have_value("Explain to me, as if I were ten, why bread rises.")


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize(("is_staff", "way"), [(True, "Connect an endpoint"), (False, "Ask whoever runs this")])
def test_without_a_model_the_page_says_what_to_do(visit: Callable[..., Visit], *, is_staff: bool, way: str) -> None:
    page = visit(is_staff=is_staff).open("/")

    expect(page.locator(".welcome")).to_contain_text("No model is connected")
    expect(page.locator(".welcome")).to_contain_text(way)
    take_pictures(page, f"state-no-model-{'staff' if is_staff else 'others'}")


@pytest.mark.usefixtures("endpoint_down")
def test_endpoint_that_is_down_is_told_before_sending_and_no_more_once_it_answers(chat: Page, script: Script) -> None:
    expect(chat.locator("#ahead")).to_contain_text("could not be reached when it was last asked")
    take_pictures(chat, "state-endpoint-down")

    say(chat, "Are you there?")

    expect(chat.locator("#ahead")).not_to_contain_text("could not be reached")


def test_cold_model_is_waited_for_visibly_and_can_be_stopped(chat: Page, script: Script) -> None:
    gate = Signal()
    script.will([hold(gate), *reply("At last.")])
    send(chat, "Wake up")
    expect(last(chat)).to_have_attribute("data-status", "streaming")
    still = last(chat).locator(".still").first
    expect(still).to_be_hidden()

    expect(still).to_be_visible()

    expect(still).to_have_text(re.compile(r"^No word yet; still waiting, \d+ s\.$"))
    take_pictures(chat, "state-cold-model")
    gate.set()
    expect(ended(chat, count=4)).to_contain_text("At last.")
    expect(chat.locator(".still")).to_have_count(0)
    script.will([hold(Signal()), head()])
    send(chat, "Once more")
    button(chat, "Stop").click()
    ended(chat, count=6, status="stopped")


def test_offline_is_named_at_once_and_gone_with_the_connection(alice: Visit, chat: Page) -> None:
    alice.allow("ERR_INTERNET_DISCONNECTED", "WebSocket connection")
    chat.evaluate(TIMES_THE_BANNER)
    alice.context.set_offline(True)

    expect(banner(chat)).to_contain_text("You are offline")
    assert seconds_between(chat, "offline", "offline") < 2
    take_pictures(chat, "state-offline")
    box(chat).fill("Kept")
    alice.context.set_offline(False)

    expect(banner(chat)).to_be_hidden()
    expect(box(chat)).to_have_value("Kept")


NOTES_OPENING = """window.WebSocket = class extends WebSocket {
    constructor(url) {
        super(url);
        this.addEventListener("open", () => { window.wasOpen = true; });
        this.addEventListener("close", () => dispatchEvent(new Event("closed")));
    }
};"""


def connected_once(alice: Visit) -> tuple[Page, WebSocketRoute]:
    """A page with its socket; none that it opens after that one is let through."""
    sockets: list[WebSocketRoute] = []

    def pass_on_once(route: WebSocketRoute) -> None:
        sockets.append(route)
        if len(sockets) == 1:
            route.connect_to_server()
        else:
            route.close(code=1011)

    alice.allow("WebSocket connection", "Failed to load resource", "ERR_")
    alice.context.route_web_socket("**/ws/**", pass_on_once)
    page = alice.context.new_page()
    page.add_init_script(NOTES_OPENING)
    page.goto(alice.chat("Hello", "Hello to you."))
    page.wait_for_function("() => window.wasOpen")
    page.evaluate(TIMES_THE_BANNER)
    return page, sockets[0]


def test_server_that_is_gone_is_named_within_five_seconds(alice: Visit) -> None:
    page, socket = connected_once(alice)
    page.route("**/changes/**", lambda route: route.abort())

    socket.close(code=1001)

    expect(banner(page)).to_contain_text("can’t be reached")
    assert seconds_between(page, "closed", "unreachable") < 5


def test_lost_socket_is_told_from_a_blocked_one(alice: Visit) -> None:
    page, socket = connected_once(alice)

    socket.close(code=1001)

    expect(banner(page)).to_contain_text("broke off")
    assert seconds_between(page, "closed", "lost") < 5
    send(page, "Can you hear me?")
    ended(page, count=4)


def test_rate_limit_that_is_long_counts_down_and_offers_retry(chat: Page, script: Script) -> None:
    script.will(json_error(429, "Rate limit reached", headers={"Retry-After": "300"}))
    send(chat, "Well?")

    failed = ended(chat, count=4, status="failed")
    expect(failed.locator(".failure time")).to_have_text(re.compile(r"^in 4 min \d+ s$"))
    expect(button(failed, "Retry")).to_be_visible()
    take_pictures(chat, "state-rate-limit")
    button(failed, "Retry").click()
    expect(last(chat)).to_contain_text("Indeed.")


def test_rate_limit_that_is_short_is_waited_for_visibly(chat: Page, script: Script) -> None:
    script.will(json_error(429, "Rate limit reached", headers={"Retry-After": "3"}))
    send(chat, "Well?")

    expect(last(chat).locator(".waiting")).to_contain_text(re.compile(r"trying again in \d s\."))
    expect(ended(chat, count=4)).to_contain_text("Indeed.")


def test_empty_search_says_so_and_how_to_search(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hello to you."))
    page.get_by_role("searchbox", name="Search your chats").fill("zanzibar")

    expect(page.locator("#found")).to_contain_text("Nothing found")
    expect(page.locator("#status")).to_have_text("Nothing found")
    take_pictures(page, "state-nothing-found")
    page.locator("#found").get_by_role("link", name="What can be typed").click()
    expect(page.get_by_text("these words, one after the other")).to_be_visible()


def test_pages_that_refuse_fit_the_look(alice: Visit) -> None:
    alice.allow("Failed to load resource")
    nowhere, forbidden = alice.open("/nowhere/"), alice.open("/admin/")

    expect(nowhere.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    expect(forbidden.get_by_role("heading", level=1)).to_have_text("That is not for you")
    take_pictures(nowhere, "state-404")
    take_pictures(forbidden, "state-403")
