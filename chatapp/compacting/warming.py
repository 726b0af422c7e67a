"""After a compaction the new prompt is sent once, so that the next turn finds it cached (rule G5)."""

from __future__ import annotations

import logging
from uuid import UUID

from chatapp import connecting
from chatapp.compacting.calling import record_usage, without_answer_options
from chatapp.database import in_database
from chatapp.history import loading
from chatapp.llm import complete, errors
from chatapp.models import Run, UsageRecord
from compaction.request import as_payload, assemble

log = logging.getLogger("foldline.compacting")


async def warm(chat_id: UUID) -> None:
    """Only where the endpoint keeps its cache, and while nobody writes there; whatever fails, nobody has waited."""
    situation = await in_database(loading.load_situation, chat_id)
    model = situation.model
    if model is None or not model.endpoint.keeps_cache or not situation.site.warms_prompt:
        return
    if await in_database(Run.objects.live().exists):
        return
    request = assemble(situation.to_send().transcript, no_system_role=situation.no_system_role)
    try:
        completion = await complete(
            connecting.target_of(model, situation.site),
            as_payload(request),
            params=without_answer_options(situation.chat.parameters),
            max_tokens=1,
        )
    except errors.EndpointError as error:
        log.info("The prompt was not warmed: %s", error.code)
        return
    if completion.usage:
        await record_usage(UsageRecord.Kind.WARMING, chat_id, model, completion.usage)
