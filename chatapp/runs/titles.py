"""A chat's title from its first exchange, written by its model once the first reply is there."""

from __future__ import annotations

import logging
from uuid import UUID

from chatapp import connecting, events
from chatapp.compacting.counting import complete_counted
from chatapp.database import patiently
from chatapp.history import allowing, chats, loading
from chatapp.llm import errors
from chatapp.models import UsageRecord
from compaction.prompts import clean_title, title_request

log = logging.getLogger("foldline.runs")

LONGEST_TITLE_TOKENS = 400  # a reasoning model thinks first


async def suggest(chat_id: UUID) -> None:
    """Of the first exchange; whatever goes wrong, the first words of the message stay the title.

    Raises Chat.DoesNotExist.
    """
    situation = await patiently(loading.load_situation, chat_id)
    messages = situation.transcript.messages
    if len(messages) < 2 or situation.chat.is_compacted or situation.chat.titled_by_hand:
        return
    if await patiently(allowing.reached_by, situation.chat.owner_id):
        return
    try:
        completion, _ = await complete_counted(
            UsageRecord.Kind.TITLE,
            situation.chat,
            connecting.connected(situation.model),
            situation.site,
            title_request(messages[0].content, messages[1].content),
            max_tokens=LONGEST_TITLE_TOKENS,
            temperature=0.2,
        )
    except errors.EndpointError as error:
        log.info("No title was made: %s", error.code)
        return
    if await patiently(chats.suggest_title, chat_id=chat_id, title=clean_title(completion.text)):
        await events.publish_listed(chat_id, situation.chat.owner_id)
