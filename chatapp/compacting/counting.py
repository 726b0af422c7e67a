"""A call that isn't a reply, and what it used: in the ledger and in its owner's day, however it ends (rule I5)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from chatapp import connecting
from chatapp.database import patiently
from chatapp.history import ledger
from chatapp.llm import Completion, Gathered, complete, errors
from chatapp.models import Chat, LanguageModel, SiteSettings, UsageRecord
from chatapp.payloads import payload_of
from compaction.request import RequestMessage
from compaction.tokens import estimate_request, estimate_text
from compaction.transcript import Usage

log = logging.getLogger("foldline.compacting")


async def complete_counted(
    kind: UsageRecord.Kind,
    chat: Chat,
    model: LanguageModel,
    site: SiteSettings,
    request: tuple[RequestMessage, ...],
    **options: Any,
) -> tuple[Completion, UsageRecord | None]:
    """The model's answer, and its row in the ledger: an estimate where the endpoint counted nothing, marked as one.

    What is cancelled while the endpoint has it is counted too, and what broke off with an answer; a refusal costs
    nothing. `options` are those of `llm.complete`. Raises EndpointError.
    """
    gathered = Gathered()
    was_asked = False
    record = None
    try:
        async with connecting.calling(model, site) as call:
            payload = await payload_of(request)
            was_asked = True
            completion = await complete(call.target, payload, gathered=gathered, **options)
    except errors.EndpointError:
        was_asked = gathered.has_come
        raise
    except asyncio.CancelledError:
        was_asked = was_asked and not gathered.is_waiting
        raise
    finally:
        if was_asked:
            record = await asyncio.shield(asyncio.ensure_future(_record(kind, chat, model, request, gathered)))
    return completion, record


async def _record(
    kind: UsageRecord.Kind,
    chat: Chat,
    model: LanguageModel,
    request: tuple[RequestMessage, ...],
    gathered: Gathered,
) -> UsageRecord | None:
    """A ledger that fails never fails what it counts, and gives None."""
    try:
        return await patiently(
            ledger.record_usage,
            kind=kind,
            chat_id=chat.pk,
            owner_id=chat.owner_id,
            model=model,
            usage=gathered.usage or _estimated(request, gathered),
            measured=gathered.usage is not None,
        )
    except Exception:
        log.exception("Usage (%s) could not be recorded.", kind)
        return None


def _estimated(request: tuple[RequestMessage, ...], gathered: Gathered) -> Usage:
    return Usage(prompt=estimate_request(request), completion=estimate_text(gathered.text + gathered.reasoning))
