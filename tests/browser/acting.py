"""What a person does and sees in the browser, and what the scripted model answers."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from chatapp.models import LanguageModel
from compaction.titles import ASKED
from tests.browser.server_rows import ServerRows
from tests.factories import fold, make_chat
from tests.scripted import Answer, ScriptedEndpoint, Signal, head, hold, reply, text

SUMMARY = "They spoke about bread at length; the dough wants warmth, time and patience, in winter above all."
TITLE = "A talk about bread"


@dataclass
class Script:
    """The next replies, in order; then `usually`. A title or a summary is never taken for a reply."""

    endpoint: ScriptedEndpoint
    queue: deque[Answer]
    usually: Answer = field(default_factory=lambda: reply("Indeed."))
    title: Answer = field(default_factory=lambda: reply(TITLE))
    summary: Answer = field(default_factory=lambda: reply(SUMMARY))

    def will(self, *answers: Answer) -> None:
        self.queue.extend(answers)

    def will_hold(self, *words: str) -> Signal:
        """A reply of these words that then waits; the signal lets it go on to its end."""
        gate = Signal()
        self.will([head(), *map(text, words), hold(gate), *reply(" The end.")[1:]])
        return gate

    def answer(self, payload: dict[str, Any]) -> Any:
        if payload["messages"][0]["content"] == ASKED:
            chosen = self.title
        elif "max_tokens" in payload:
            chosen = self.summary
        else:
            chosen = self.queue.popleft() if self.queue else self.usually
        return chosen(payload) if callable(chosen) else chosen


@dataclass
class Visit:
    """One person's browser. Whatever the browser complains about is kept; `allow` names what a test brings about."""

    context: BrowserContext
    name: str
    rows: ServerRows
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.on("console", self._heard)
        self.context.on("weberror", lambda error: self._complain(str(error.error)))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._complain(message.text)

    def _complain(self, words: str) -> None:
        if not any(part in words for part in self.allowed):
            self.complaints.append(words)

    def allow(self, *parts: str) -> None:
        self.allowed.extend(parts)

    def open(self, path: str = "/") -> Page:
        page = self.context.new_page()
        page.goto(path)
        return page

    def chat(
        self, *texts: str, folded_through: int | None = None, summary: str = SUMMARY, model: str = "scripted"
    ) -> str:
        """The path of a chat with these messages, put there without a click."""

        def work() -> str:
            owner, chosen = User.objects.get(username=self.name), LanguageModel.objects.get(name=model)
            chat = make_chat(owner, *texts, model=chosen, revision=1)
            if folded_through is not None:
                fold(chat, through=folded_through, summary=summary)
            return chat.get_absolute_url()

        return self.rows(transaction.atomic(work))


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message", exact=True)


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def send(page: Page, words: str) -> None:
    box(page).fill(words)
    button(page, "Send").click()


def say(page: Page, words: str) -> Locator:
    """Send, and wait for the end of the reply, which is returned."""
    before = messages(page).count()
    send(page, words)
    if page.locator("#live[data-chat]").count() == 0:
        page.wait_for_url(re.compile("/chats/"))
        before = 0
    return ended(page, count=before + 2)


def messages(page: Page) -> Locator:
    return page.locator("#log > article")


def last(page: Page) -> Locator:
    return messages(page).last


def ended(page: Page, *, count: int, status: str = "complete") -> Locator:
    expect(messages(page)).to_have_count(count)
    expect(last(page)).to_have_attribute("data-status", status)
    return last(page)


def prose(message: Locator) -> Locator:
    """The finished text, without reasoning."""
    return message.locator("> [id^=blocks-]")


def shown_text(message: Locator) -> str:
    """All text there is so far, without reasoning."""
    return "\n".join(message.locator("> .prose").all_inner_texts()).strip()
