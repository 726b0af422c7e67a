"""Which messages a compaction is about: those of the active path, in the order of their positions (rule C4)."""

from __future__ import annotations

import json
from datetime import timedelta

from chatapp.database import in_database
from chatapp.history import loading
from chatapp.models import Chat, Message
from tests.folding import WORDS, long_chat, press, summarising, summary_calls
from tests.visiting import Visitor


def _add_version(chat: Chat) -> None:
    """A version of the second message that isn't shown, newer than all."""
    Message.objects.create(
        chat=chat,
        parent=chat.messages.get(position=0),
        position=1,
        role=Message.Role.ASSISTANT,
        active=False,
        content=f"An abandoned answer. {WORDS}",
    )


def _turn_times_round(chat: Chat) -> None:
    """As after a clock that was set: the later the message, the earlier its time."""
    for message in chat.messages.all():
        earlier = message.created_at - timedelta(hours=message.position)
        chat.messages.filter(pk=message.pk).update(created_at=earlier)


async def test_c4_other_versions_are_neither_summarised_nor_counted(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    before = (await in_database(loading.load_situation, chat.pk)).meter()
    await in_database(_add_version, chat)

    assert (await in_database(loading.load_situation, chat.pk)).meter() == before
    compaction = await press(alice, chat)

    assert compaction.tokens_before == before.used
    asked = json.dumps(summary_calls(alice)[-1])
    assert "1: Bread" in asked
    assert "abandoned" not in asked


async def test_c4_order_is_the_position_never_the_time(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await in_database(_turn_times_round, chat)

    await press(alice, chat)

    asked = json.dumps(summary_calls(alice)[-1])
    places = [asked.index(f"{number}: Bread") for number in range(4)]
    assert places == sorted(places)
