"""Compactions on the test's own thread and connection, with a scripted summariser: every statement can be watched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from chatapp import compacting, events
from chatapp.compacting import counting, working
from chatapp.history import compactions
from chatapp.llm import Completion, Gathered
from chatapp.models import Compaction
from compaction.transcript import Usage

Answer = Callable[[], Completion]


def written(text: str) -> Completion:
    return Completion(text, "", Usage(prompt=300, completion=60), "stop", tool_calls=False)


class Summariser:
    """What `llm.complete` is replaced by. `answer` gives the completion or raises; `calls` counts them."""

    def __init__(self) -> None:
        self.answer: Answer = lambda: written("")
        self.calls = 0

    async def complete(self, *_: Any, gathered: Gathered, **__: Any) -> Completion:
        self.calls += 1
        await asyncio.sleep(0)
        completion = self.answer()
        gathered.usage = completion.usage
        return completion


def work_inline(monkeypatch: pytest.MonkeyPatch) -> Summariser:
    """From here on `in_database` calls the function where it stands, and no endpoint is asked."""

    def inline(function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
        async def call() -> Any:
            loop = asyncio.get_running_loop()
            asyncio._set_running_loop(None)  # else Django gives each task a connection of its own
            try:
                return function()
            finally:
                asyncio._set_running_loop(loop)

        return call

    async def publish(*_: Any) -> None: ...

    summariser = Summariser()
    monkeypatch.setattr("chatapp.database.sync_to_async", inline)
    monkeypatch.setattr(events, "publish", publish)
    monkeypatch.setattr(counting, "complete", summariser.complete)
    return summariser


def press_button(chat_id: UUID, **wishes: Any) -> Compaction:
    """Compact now, from the claim to its end. Raises ChatBusy."""
    compaction = compactions.begin_compaction(
        chat_id=chat_id, trigger=Compaction.Trigger.BUTTON, by=events.PROCESS, **wishes
    )
    asyncio.run(working.compact(compaction.pk, chat_id))
    compaction.refresh_from_db()
    return compaction


def cancel(compaction: Compaction) -> None:
    compactions.request_cancel(chat_id=compaction.chat_id, compaction_id=compaction.pk)
    compacting.cancel_here(compaction.pk)
