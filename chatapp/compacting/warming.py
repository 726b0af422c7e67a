"""After a compaction the new prompt is sent once, so that the next turn finds it cached (rule G5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from chatapp.compacting.calling import without_answer_options
from chatapp.compacting.counting import complete_counted
from chatapp.database import patiently
from chatapp.history import loading
from chatapp.llm import errors
from chatapp.models import Run, UsageRecord
from compaction.request import assemble

log = logging.getLogger("foldline.compacting")


_live: set[asyncio.Task[Any]] = set()


def make_way() -> None:
    """For a reply that is about to be asked for. What the endpoint has read so far stays in its cache."""
    for warming in _live:
        warming.cancel()


async def warm(chat_id: UUID) -> None:
    """Only where the endpoint keeps its cache, and while nobody writes there; whatever fails, nobody has waited."""
    situation = await patiently(loading.load_situation, chat_id, to_send=True)
    model = situation.model
    if model is None or not model.endpoint.keeps_cache or not situation.site.warms_prompt:
        return
    if await patiently(Run.objects.live().exists):
        return
    request = assemble(situation.to_send().transcript, no_system_role=situation.no_system_role)
    options = without_answer_options(situation.chat.parameters)
    call = complete_counted(
        UsageRecord.Kind.WARMING, situation.chat, model, situation.site, request, params=options, max_tokens=1
    )
    try:
        await _until_in_the_way(call)
    except errors.EndpointError as error:
        log.info("The prompt was not warmed: %s", error.code)


async def _until_in_the_way(call: Coroutine[Any, Any, Any]) -> None:
    warming = asyncio.ensure_future(call)
    _live.add(warming)
    try:
        await warming
    except asyncio.CancelledError:
        if (mine := asyncio.current_task()) and mine.cancelling():
            raise
    finally:
        _live.discard(warming)
