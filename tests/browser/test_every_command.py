"""What open pages make of each command is what a page opened after it shows: at a desk, on a phone, and after a nap.

The method by which Zulip tests its events: a snapshot and the events after it are the newest snapshot. Here page and
patches are the real ones, and the list of commands is the one of the addresses: a new one fails until it has its step.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from django.urls import resolve
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

from chatapp.models import Chat, Compaction, Folder, LanguageModel, Message, QueuedMessage, Run
from chatapp.urls import in_chat
from tests.browser.acting import SUMMARY, Script, Visit
from tests.browser.server_rows import ServerRows
from tests.factories import make_chat
from tests.scripted import Signal, head, hold, json_error, reply, text

pytestmark = [pytest.mark.browser, pytest.mark.server]

# What only shows or hands out, and what changes no page: a draft, a copy for others.
LOOKS = {
    *("chat", "changes", "archived", "earlier", "print", "compactions", "request", "meter", "find_here", "order"),
    *("export_chat", "export_markdown", "share", "draft"),
}
LONG = "Bread wants time, warmth and patience, and then some more of each. " * 12
PARTS = "#title #standing #keep-pinned #keep-archived #fold #earlier #log #compaction #ahead #queue #meter #run-buttons"
SHOWN = """(parts) => parts.split(" ").map((name) => {
    const part = document.querySelector(name)?.cloneNode(true);
    const articles = [...(part?.querySelectorAll("article") || [])];
    articles.slice(0, -1).forEach((each) => each.querySelectorAll(".last-only").forEach((button) => button.remove()));
    const byName = (one, two) => (one.name < two.name ? -1 : 1);
    part?.querySelectorAll("*").forEach((each) => [...each.attributes].sort(byName).forEach(
        (attribute) => each.setAttributeNode(each.removeAttributeNode(attribute))));
    part?.querySelectorAll("time").forEach((time) => time.replaceChildren());
    return `${name}: ${part?.outerHTML}`;
}).concat(document.title).join("\\n")"""


@dataclass
class Device:
    """Commands over HTTP, as a device sends them whose page isn't looked at; `done` are their names."""

    alice: Visit
    path: str
    done: set[str] = field(default_factory=set)

    @property
    def chat(self) -> Chat:
        return Chat.objects.get(pk=UUID(self.path.split("/")[2]))

    def post(self, command: str, **fields: str) -> None:
        token = next(each["value"] for each in self.alice.context.cookies() if each["name"] == "csrftoken")
        answer = self.alice.context.request.post(
            self.path + command, form=fields | {"csrfmiddlewaretoken": token}, max_redirects=0
        )
        assert answer.status in {200, 302}, (command, answer.status)
        self.done.add(resolve(self.path + command).url_name or "")

    def message(self, position: int) -> int:
        def work() -> int:
            rows = self.chat.messages.on_path()
            row: Message = rows.get(position=position) if position >= 0 else rows.reverse()[-position - 1]
            return row.pk

        return self.alice.rows(work)

    def of_message(self, position: int, command: str, **fields: str) -> None:
        self.post(f"messages/{self.message(position)}/{command}/", **fields)

    def of_queued(self, command: str) -> None:
        first = self.alice.rows(lambda: QueuedMessage.objects.filter(chat=self.chat).in_order()[0].pk)
        self.post(f"queue/{first}/{command}/")

    def of_compaction(self, command: str, **fields: str) -> None:
        newest = self.alice.rows(lambda: Compaction.objects.filter(chat=self.chat).latest("pk").pk)
        self.post(f"compactions/{newest}/{command}/", **fields)

    def is_quiet(self) -> bool:
        live = self.alice.rows(
            lambda: (
                Run.objects.live().filter(chat=self.chat).exists()
                or Compaction.objects.live().filter(chat=self.chat).exists()
            )
        )
        return not live


@dataclass
class Pages:
    """Open on one chat; `sleeper` hears nothing and is woken at every third look."""

    device: Device
    desk: Page
    phone: Page
    sleeper: Page
    fresh: Page
    looks: int = 0

    def compare(self, what: str, *, is_quiet: bool = True) -> None:
        self.until(lambda: not is_quiet or self.device.is_quiet(), lambda: f"{what}: still at work")
        self.fresh.goto(self.device.path)
        self.looks += 1
        pages = {"desk": self.desk, "phone": self.phone}
        if self.looks % 3 == 0:
            pages["sleeper"] = self.sleeper
            self.sleeper.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        for name, page in pages.items():
            self.until(
                lambda page=page: shown(page) == shown(self.fresh),
                lambda page=page, name=name: f"{what}: {name}\n{differences(shown(page), shown(self.fresh))}",
            )

    def until(self, is_so: Callable[[], bool], complaint: Callable[[], str]) -> None:
        for _ in range(400):
            if is_so():
                return
            self.fresh.wait_for_timeout(50)
        raise AssertionError(complaint())


def shown(page: Page) -> str:
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1\n", page.evaluate(SHOWN, PARTS))


def differences(page: str, fresh: str) -> str:
    return "\n".join(difflib.unified_diff(fresh.splitlines(), page.splitlines(), "fresh", "page", n=2, lineterm=""))


@pytest.fixture
def device(alice: Visit, rows: ServerRows) -> Device:
    path = alice.chat("Bread?", LONG, "And yeast?", LONG, "And salt?", LONG, "And heat?", LONG)
    device = Device(alice, path)
    rows(lambda: Chat.objects.filter(pk=device.chat.pk).update(expires_at=timezone.now() + timedelta(hours=5)))
    rows(lambda: Folder.objects.create(owner=device.chat.owner, name="Baking"))
    return device


@pytest.fixture
def pages(visit: Callable[..., Visit], device: Device) -> Pages:
    alice = device.alice
    phone = alice.context.new_page()
    phone.set_viewport_size(ViewportSize(width=390, height=760))
    sleeper = alice.context.new_page()
    sleeper.route_web_socket("**/ws/**", lambda route: None)
    desk = alice.context.new_page()
    for page in (desk, phone, sleeper):
        page.goto(device.path)
    return Pages(device, desk, phone, sleeper, alice.context.new_page())


def test_every_command_leaves_open_pages_as_one_that_is_opened_after_it(
    device: Device, pages: Pages, script: Script, rows: ServerRows
) -> None:
    write_and_wait(device, pages, script)
    say_it_otherwise(device, pages, script)
    fold_and_unfold(device, pages, script)
    take_away_and_give_back(device, pages, script)
    keep_and_set(device, pages, rows)
    end_with_a_question(device, pages)

    wanted = {pattern.name for pattern in in_chat} - LOOKS
    assert device.done == wanted, "each command has its step here, or is one that only looks"


def write_and_wait(device: Device, pages: Pages, script: Script) -> None:
    gate = script.will_hold("One.\n\nTwo ", "and three")
    device.post("send/", text="Count")
    gate.wait_reached()
    pages.compare("a reply that is being written", is_quiet=False)
    for words in ("Second", "Third", "Fourth"):
        device.post("send/", text=words)
    pages.compare("three that wait", is_quiet=False)
    device.of_queued("edit")
    pages.compare("one taken back", is_quiet=False)
    device.of_queued("discard")
    pages.compare("one discarded", is_quiet=False)
    device.of_queued("send")
    pages.compare("one sent now")
    never = Signal()
    script.will([head(), text("Half of it"), hold(never)])
    device.post("send/", text="And on")
    never.wait_reached()
    device.post("stop/")
    pages.compare("stopped")
    script.will(reply(" and the rest."))
    device.of_message(-1, "continue")
    pages.compare("continued")


def say_it_otherwise(device: Device, pages: Pages, script: Script) -> None:
    script.will(json_error(401, "no"))
    device.of_message(-1, "regenerate")
    pages.compare("regenerated, and failed")
    device.of_message(-1, "retry")
    pages.compare("tried again")
    first = device.alice.rows(
        lambda: Message.objects.filter(chat=device.chat, active=False, status="complete").latest("pk").pk
    )
    device.post(f"messages/{first}/show/")
    pages.compare("an earlier version")
    device.of_message(0, "edit", text="Bread, please?", how="save")
    pages.compare("edited, and the rest stays")
    device.of_message(-2, "edit", text="And further?", how="answer")
    pages.compare("edited, and answered")
    device.of_message(3, "fork")
    pages.compare("forked")


def fold_and_unfold(device: Device, pages: Pages, script: Script) -> None:
    gate = Signal()
    script.summary = [head(), text(SUMMARY[:20]), hold(gate)]
    device.post("compact/")
    gate.wait_reached()
    pages.compare("folding", is_quiet=False)
    device.of_compaction("cancel")
    pages.compare("cancelled")
    script.summary = reply(SUMMARY)
    device.post("compact/")
    pages.compare("folded")
    device.of_compaction("edit", text="Of bread, by hand.")
    pages.compare("a summary by hand")
    device.of_message(1, "pin", pinned="1")
    pages.compare("pinned behind the divider")
    device.of_compaction("undo")
    pages.compare("unfolded")
    device.of_message(-2, "fresh")
    pages.compare("begun afresh")
    device.of_compaction("undo")
    pages.compare("and not")


def take_away_and_give_back(device: Device, pages: Pages, script: Script) -> None:
    device.post("compact/")
    pages.compare("folded again")
    device.of_message(2, "delete")
    pages.compare("deleted behind the divider")
    device.post("rebuild/")
    pages.compare("the record without it")
    device.of_message(2, "restore")
    pages.compare("given back")
    device.of_message(-1, "delete")
    pages.compare("the last reply deleted")


def keep_and_set(device: Device, pages: Pages, rows: ServerRows) -> None:
    folder = rows(lambda: Folder.objects.get(owner=device.chat.owner).pk)
    other = rows(lambda: LanguageModel.objects.get(name="other").pk)
    for command, fields in (
        ("keep/", {}),
        ("pin/", {"pinned": "1"}),
        ("archive/", {"archived": "1"}),
        ("move/", {"folder": str(folder)}),
        ("tag/", {"tag": "rye"}),
        ("rename/", {"title": "Of <b>bread</b>"}),
        ("policy/", {"policy": "window"}),
        ("settings/", {"system_prompt": "Be brief. " * 20, "policy": "compact"}),
        ("model/", {"model": str(other)}),
    ):
        device.post(command, **fields)
        pages.compare(command)


def end_with_a_question(device: Device, pages: Pages) -> None:
    """A chat of its own, as no other step leaves one without a reply; then it goes."""

    def work() -> str:
        return make_chat(device.chat.owner, "Alone?", model=device.chat.model, revision=1).get_absolute_url()

    device.path = device.alice.rows(work)
    for page in (pages.desk, pages.phone, pages.sleeper):
        page.goto(device.path)
    device.of_message(0, "answer")
    pages.compare("answered at last")
    device.alice.allow("404", "WebSocket connection")
    device.post("delete/")
    for page in (pages.desk, pages.phone):
        pages.until(
            lambda page=page: page.locator("#banner").get_attribute("data-cause") == "deleted", lambda: "deleted"
        )
