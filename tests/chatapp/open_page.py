"""A page of a chat as a browser keeps it: what it was painted with, and every change put in its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.template.loader import render_to_string

from chatapp import presenting
from chatapp.models import Chat

PIECE = re.compile(r'<(?:div|span|h1)(?: id="(?P<id>[^"]*)")? hx-swap-oob="(?P<how>[^"]*)">')
ARTICLE = re.compile(r'<article [^>]*id="(m-\d+)".*?</article>', re.DOTALL)
LAST_ONLY = re.compile(r'<button class="[^"]*\blast-only\b.*?</button>', re.DOTALL)
SAME_FOLD = re.compile(r'data-compaction="(\d+)"')


def ids_in(html: str) -> list[int]:
    return [int(found) for found in re.findall(r'data-message="(\d+)"', html)]


@dataclass
class OpenPage:
    """`log` and `archived` by the element's id; `parts` are the other elements, by theirs."""

    user: User
    chat: Chat
    seen: int = 0
    log: dict[str, str] = field(default_factory=dict)
    archived: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)

    def catch_up(self) -> None:
        self.seen, html = presenting.read_changes(self.user, self.chat.pk, self.seen)
        self.take(html)

    def take(self, html: str) -> None:
        """A bundle of changes, each put in its place."""
        starts = list(PIECE.finditer(html))
        assert html.count("hx-swap-oob=") == len(starts)
        for number, start in enumerate(starts, start=1):
            end = starts[number].start() if number < len(starts) else len(html)
            self._place(start["id"], start["how"], html[start.end() : end].rpartition("</")[0].strip())

    def _place(self, place: str | None, how: str, html: str) -> None:
        """As static/js/patch.js does: what is there already is replaced and never added twice."""
        articles = {found[1]: found[0] for found in ARTICLE.finditer(html)}
        if place == "log":
            self.log = articles
        elif place == "fold":
            if SAME_FOLD.findall(html)[:1] != SAME_FOLD.findall(self.parts.get("fold", ""))[:1]:
                self.archived = {}
            self.parts["fold"] = html
        elif place:
            self.parts[place] = html
        for name, article in articles.items() if place is None else ():
            if name in self.archived:
                self.archived[name] = article
            elif name in self.log or how.startswith("beforeend"):
                self.log[name] = article

    def open_archived(self) -> None:
        """All of what is behind the divider, page by page."""
        before = None
        while True:
            older = presenting.read_archived(self._fresh_chat(), presenting.Place(before=before))
            html = render_to_string("chat/_archived.html", {"chat": self.chat, "archived": older})
            self.archived = {found[1]: found[0] for found in ARTICLE.finditer(html)} | self.archived
            if older.before is None:
                return
            before = older.before

    def load_earlier(self) -> None:
        """One page of live messages that weren't on the first paint."""
        first = next(iter(self.log), "")
        older = presenting.read_earlier(self._fresh_chat(), presenting.Place(before=int(first[2:]) if first else None))
        html = render_to_string("chat/_earlier.html", {"chat": self.chat, "earlier": older})
        self.log = {found[1]: found[0] for found in ARTICLE.finditer(html)} | self.log
        self.parts["earlier"] = html if older.before is not None else ""

    def _fresh_chat(self) -> Chat:
        return Chat.objects.select_related("compacted_through").get(pk=self.chat.pk)

    def shown(self) -> list[str]:
        """The messages as a reader sees them: the stylesheet shows some buttons under the last one only."""
        *earlier, last = list(self.log.values()) or [""]
        return [*(LAST_ONLY.sub("", html) for html in earlier), last]
