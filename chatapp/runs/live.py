"""What a run holds in memory while it writes: the text so far, and how it becomes frames."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.template.loader import render_to_string
from django.utils import timezone

from chatapp import metrics
from chatapp.events import FIRST_WORD, Framed
from chatapp.history.turns import Turn
from chatapp.llm import Gathered, deltas
from chatapp.models import LanguageModel, Message, SiteSettings
from chatapp.rendering import StreamedText

SECONDS_BETWEEN_FRAMES = 0.1


@dataclass(frozen=True, slots=True)
class Read:
    """What the command that begins a run has read for itself a moment before: the run needn't ask for it again.

    `model` is what the chat's next request goes to.
    """

    site: SiteSettings
    model: LanguageModel | None


@dataclass(slots=True)
class LiveRun:
    """`continued`: the reply as it was before, where this run writes on in its row.

    `insists`: a person has asked for it once more, so an endpoint that is left alone is asked all the same.
    `owes_title`: the chat's first exchange has no title yet, as messages that waited went before it.
    `begun`, `read`: the turn as its command left it, and what it had read; good for the first request, made at once.
    """

    run_id: int
    attempt: int
    chat_id: UUID
    owner_id: int
    reply_id: int
    continued: Message | None = None
    owes_title: bool = False
    insists: bool = False
    begun: Turn | None = None
    read: Read | None = None
    gathered: Gathered = field(default_factory=Gathered)
    began_at: datetime = field(default_factory=timezone.now)
    # A visible wait before the first token: a code for the template and its end.
    waiting: str = ""
    waiting_until: datetime | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    # From then on this run waits for others: for the endpoint, for a compaction, or it has ended.
    has_asked: threading.Event = field(default_factory=threading.Event)
    clock: Callable[[], float] = time.monotonic
    # On the event loop's clock; infinite while one is being made.
    next_frame_at: float = 0
    # From the beginning to the first word or thought.
    first_token_seconds: float | None = None
    # When the first and the last of this run's reasoning came, and its first word of any kind.
    _first_word_at: float | None = None
    _thought_from: float | None = None
    _thought_until: float = 0
    _wants_whole: bool = False
    # What the last frame said of a wait and of the time for thoughts.
    _told: tuple[str, int | None] = ("", None)
    _reply: StreamedText = field(default_factory=StreamedText)
    _thoughts: StreamedText = field(default_factory=StreamedText)

    @property
    def text(self) -> str:
        """All of the reply: what stood there before, then what this run has written."""
        return (self.continued.content if self.continued else "") + self.gathered.text

    @property
    def reasoning(self) -> str:
        earlier = self.continued.reasoning if self.continued else ""
        return "\n\n".join(part for part in (earlier, self.gathered.reasoning) if part)

    @property
    def reasoning_milliseconds(self) -> int | None:
        """From its first word to its last, and what was measured before it broke off; None without any."""
        earlier = self.continued.reasoning_milliseconds if self.continued else None
        if self._thought_from is None:
            return earlier
        return (earlier or 0) + round(1000 * (self._thought_until - self._thought_from))

    @property
    def has_written(self) -> bool:
        """Whether this run has brought a word that can be read."""
        text = self.gathered.text
        return bool(text) and not text.isspace()

    def seconds_to_next_frame(self) -> float:
        """For so long nobody sees what comes; the text is stored meanwhile, so it isn't told to be long."""
        return min(SECONDS_BETWEEN_FRAMES, self.next_frame_at - asyncio.get_running_loop().time())

    def take(self, event: deltas.Event) -> None:
        """What the stream brought; whoever shows it is woken."""
        self.gathered.take(event)
        self.waiting, self.waiting_until = "", None
        self._time(event)
        if self.first_token_seconds is None and isinstance(event, deltas.TextDelta | deltas.ReasoningDelta):
            self.first_token_seconds = (timezone.now() - self.began_at).total_seconds()
            metrics.first_token_seconds.observe(self.first_token_seconds)
        match event:
            case deltas.Waiting(seconds, code):
                self.waiting, self.waiting_until = code, timezone.now() + timedelta(seconds=seconds)
            case deltas.TextWasReasoning():
                self._reply, self._thoughts = StreamedText(), StreamedText()
                self._wants_whole = True
        self.changed.set()

    def _time(self, event: deltas.Event) -> None:
        now = self.clock()
        match event:
            case deltas.TextDelta() if self._first_word_at is None:
                self._first_word_at = now
            case deltas.ReasoningDelta():
                self._thought_from = now if self._thought_from is None else self._thought_from
                self._thought_until = now
            case deltas.TextWasReasoning():
                self._thought_from, self._thought_until = self._first_word_at, now

    def begin_afresh(self) -> None:
        """Withdraw what this run has brought so far, from the page too: it asks once more."""
        self.gathered = Gathered()
        self._first_word_at = self._thought_from = None
        self._reply, self._thoughts = StreamedText(), StreamedText()
        self.show_whole()

    def show_whole(self) -> None:
        """Let the next frame hold all of it, for whoever comes later or missed something."""
        self._wants_whole = True
        self.changed.set()

    def next_frame(self) -> Framed | None:
        """What is new since the last frame, as HTML; in a worker thread, since Markdown costs milliseconds.

        It is the same for all who listen, in whatever language (presenting/words.py). None where all is as it was:
        the end of a very long block is shown again only when it has grown by a part of itself.
        """
        whole, self._wants_whole = self._wants_whole, False
        text, reasoning = self.text, self.reasoning
        reply, thoughts = self._reply.update(text), self._thoughts.update(reasoning)
        if whole:
            reply, thoughts = self._reply.snapshot(), self._thoughts.snapshot()
        waiting = self.waiting or ("" if text or reasoning else FIRST_WORD)
        thought_seconds = self._thought_seconds() if self.has_written else None
        told, self._told = self._told, (waiting, thought_seconds)
        says_more = whole or bool(waiting) or told != self._told
        if not (says_more or reply.has_news or thoughts.has_news):
            return None
        context = {
            "message_id": self.reply_id,
            "frame": reply,
            "whole": whole,
            "reasoning": thoughts if whole or (reasoning and (says_more or thoughts.has_news)) else None,
            "thought_seconds": thought_seconds,
        }
        html = render_to_string("chat/_frame.html", context)
        seconds = ((self.waiting_until or self.began_at) - timezone.now()).total_seconds()
        return Framed(self.reply_id, html, whole, waiting, round(seconds))

    def _thought_seconds(self) -> int | None:
        thought = self.reasoning_milliseconds
        return None if thought is None else thought // 1000
