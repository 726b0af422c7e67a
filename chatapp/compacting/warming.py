"""After a compaction the new prompt is sent once, so that the next turn finds it cached (rule G5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from chatapp import connecting
from chatapp.compacting.calling import record_usage, without_answer_options
from chatapp.database import patiently
from chatapp.history import loading
from chatapp.llm import Completion, complete, errors
from chatapp.models import LanguageModel, Run, UsageRecord
from chatapp.payloads import payload_of
from compaction.request import assemble

log = logging.getLogger("foldline.compacting")


_live: set[asyncio.Task[Completion]] = set()


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
    try:
        payload = await payload_of(request)
        completion = await _until_in_the_way(_read(model, situation, payload))
    except errors.EndpointError as error:
        log.info("The prompt was not warmed: %s", error.code)
        return
    if completion and completion.usage:
        await record_usage(UsageRecord.Kind.WARMING, situation.chat, model, completion.usage)


async def _read(model: LanguageModel, situation: loading.Situation, payload: list[dict[str, Any]]) -> Completion:
    options = without_answer_options(situation.chat.parameters)
    async with connecting.calling(model, situation.site) as call:
        return await complete(call.target, payload, params=options, max_tokens=1)


async def _until_in_the_way(call: Coroutine[Any, Any, Completion]) -> Completion | None:
    warming = asyncio.ensure_future(call)
    _live.add(warming)
    try:
        return await warming
    except asyncio.CancelledError:
        if (mine := asyncio.current_task()) and mine.cancelling():
            raise
        return None
    finally:
        _live.discard(warming)
