"""One socket an open page: events out, nothing in but "I have seen up to N"."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import translation

from chatapp import events, metrics, passes, presenting, runs
from chatapp.database import AWAY, in_database
from chatapp.languages import language_of
from chatapp.models import Chat, Run

log = logging.getLogger("foldline.sockets")

# So many frames may be on their way unacknowledged (at ten a second and one acknowledgement a second); beyond it the
# page is slow, gets none until it answers, and then one that holds everything.
FRAMES_AHEAD = 60

# Whatever the code, the page comes back. Of those with a number below 3000 Daphne sends 1000 alone.
TRY_AGAIN_LATER, WENT_WRONG = 4503, 4500
# Of one person in one process: a hundred tabs, not a script that opens them without end. The page then waits a minute
# and asks by polling meanwhile; turned away before it is accepted, a socket could tell no code.
MOST_SOCKETS = 100
TOO_MANY_SOCKETS = 4429
SIGNED_OUT = 4401

LIST_IS_ANOTHER = "<i hidden data-listed></i>"
HERE = "<i hidden></i>"


class PageConsumer(AsyncWebsocketConsumer):
    """Joined for one chat of the signed-in person, or for none, where one begins; all others are turned away alike.

    Either page is told when the person's list of chats is another, and fetches it: once a run, not once a token.
    """

    async def connect(self) -> None:
        self.chat_id: UUID | None = self.scope["url_route"]["kwargs"].get("chat_id")
        self.language = language_of(self.scope)
        self.seen = presenting.revision_in(parse_qs(self.scope["query_string"].decode("latin-1")).get("seen", [""])[0])
        self.frames: list[events.Framed] = []
        self.sent = self.acknowledged = 0
        self.has_gap = False
        self.is_stale = self.wants_whole_frame = self.chat_id is not None
        self.is_list_stale = False
        self.is_asked = False
        self.is_signed_out = False
        self.rewind_to: int | None = None
        self.news = asyncio.Event()
        self.pump: asyncio.Task[None] | None = None
        self.unsubscribe: list[Callable[[], None]] = []
        let_in_by = await in_database(self.find_pass)
        if let_in_by is None:
            await self.close()
            return
        if events.count_listeners(self.user.pk) >= MOST_SOCKETS:
            await self.accept()
            await self.close(code=TOO_MANY_SOCKETS)
            return
        self.topics: list[events.Topic] = [self.user.pk, *([self.chat_id] if self.chat_id else [])]
        self.unsubscribe = [events.subscribe(topic, self.take) for topic in (*self.topics, let_in_by)]
        try:
            await self.join()
        except BaseException:  # Channels says goodbye to none that has not come in whole
            await self.disconnect(TRY_AGAIN_LATER)
            raise

    def find_pass(self) -> passes.Pass | None:
        """None for whoever may not see the chat, or is nobody."""
        cookies = dict(self.scope["headers"]).get(b"cookie", b"").decode("latin-1")
        held = passes.holder_of(cookies)
        if held is None or not presenting.may_see(held[0], self.chat_id):
            return None
        self.user, let_in_by = held
        return let_in_by

    async def join(self) -> None:
        if events.is_shared():
            for topic in self.topics:
                await self.channel_layer.group_add(events.group_of(topic), self.channel_name)
        await self.accept()
        metrics.sockets.inc()
        self.pump = asyncio.create_task(self.push_while_possible())

    async def disconnect(self, _code: int) -> None:
        for unsubscribe in self.unsubscribe:
            unsubscribe()
        if self.pump is None:
            return
        metrics.sockets.dec()
        self.pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.pump
        if events.is_shared():
            with contextlib.suppress(*events.LAYER_AWAY):
                for topic in self.topics:
                    await self.channel_layer.group_discard(events.group_of(topic), self.channel_name)

    async def receive(self, text_data: str | None = None, **_: Any) -> None:
        """An acknowledgement; one with "resync" asks for everything after its revision, and for a whole frame, one with
        "ask" for any answer at all.
        """
        try:
            word = json.loads(text_data or "")
            seen, frames = int(word["seen"]), int(word.get("frames", 0))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return
        self.acknowledged = min(frames, self.sent)
        if word.get("resync") and self.chat_id:
            self.rewind_to = max(0, seen)
            self.is_stale = self.wants_whole_frame = True
        self.is_asked = self.is_asked or bool(word.get("ask"))
        self.news.set()

    async def remote_event(self, message: dict[str, Any]) -> None:
        """From another process, through the layer."""
        if event := events.read_remote(message):
            self.take(event)

    def take(self, event: events.Event) -> None:
        """On the loop, at every event; never waits."""
        if isinstance(event, events.Framed):
            if event.whole:
                self.frames.clear()
            self.frames.append(event)
        elif isinstance(event, events.Listed):
            self.is_list_stale = True
        elif isinstance(event, events.SignedOut):
            self.is_signed_out = True
        else:
            self.is_stale = True
        self.news.set()

    async def push_while_possible(self) -> None:
        """An open socket that says nothing more would look like a chat in which nothing happens."""
        try:
            await self.push_for_ever()
        except AWAY:
            await self.close(code=TRY_AGAIN_LATER)
        except Exception:
            log.exception("A page's socket is closed")
            await self.close(code=WENT_WRONG)

    async def push_for_ever(self) -> None:
        while True:
            if self.is_signed_out:
                await self.close(code=SIGNED_OUT)
                return
            if self.is_stale:
                self.is_stale = False
                await self.push_changes()
            await self.push_frames()
            if self.is_list_stale and not self.is_stale:
                self.is_list_stale = False
                await self.send(LIST_IS_ANOTHER)
            if self.is_asked:
                self.is_asked = False
                await self.send(HERE)
            await self.news.wait()
            self.news.clear()

    async def push_changes(self) -> None:
        # Asked for while an earlier push was being read, it must not be overwritten by that one's end.
        if self.rewind_to is not None:
            self.seen, self.rewind_to = self.rewind_to, None
        wants_whole_frame, self.wants_whole_frame = self.wants_whole_frame, False
        try:
            self.seen, html, run = await in_database(self.read_changes, wants_whole_frame)
        except Chat.DoesNotExist:
            await self.close(code=4404)
            return
        if html:
            await self.send(html)
        if run:
            runs.show_whole(run)

    def read_changes(self, wants_whole_frame: bool) -> tuple[int, str, Run | None]:  # noqa: FBT001 (through in_database)
        """And the run that is asked for all it has written, after what there is of it was read."""
        assert self.chat_id is not None
        with translation.override(self.language):
            seen, html = presenting.read_changes(self.user, self.chat_id, self.seen)
        return seen, html, presenting.live_run_of(self.chat_id) if wants_whole_frame else None

    async def push_frames(self) -> None:
        frames, self.frames = self.frames, []
        if self.sent - self.acknowledged > FRAMES_AHEAD:
            self.has_gap = self.has_gap or bool(frames)
            return
        if self.has_gap:
            self.has_gap = False
            self.is_stale = self.wants_whole_frame = True
            self.news.set()
        for frame in frames:
            self.sent += 1
            with translation.override(self.language):
                html = presenting.frame_in_words(frame)
            await self.send(html)
            metrics.frames.inc()
