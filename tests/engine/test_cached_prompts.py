"""What the real engine serves from its cache: the question for a summary, and the turns after a compaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chatapp import llm, runs
from chatapp.compacting.warming import warm
from chatapp.database import in_database
from chatapp.engine import Engine
from chatapp.models import Chat, LanguageModel, Message, UsageRecord
from compaction.continuation import QUESTION_TOKENS
from tests.conftest import ENGINE_CONTEXT
from tests.factories import fold, make_chat, make_model
from tests.folding import message_at
from tests.visiting import Visitor, compactions_of, last_message, settled

pytestmark = pytest.mark.engine

PATIENCE = 300  # beside other work the engine is slow
TOPICS = ("ropes", "lamps", "boats", "permits", "stalls", "music", "food", "weather")
# About 100 tokens each; the same every time, as are the replies.
TALK = [
    f"About the {topic} of the harbour fair: we looked at what we had last year, asked everybody on the pier, and "
    f"wrote down what is missing. Two people will see to the {topic} before Friday, and one of them keeps the list. "
    "If it rains we move under the roof of the old market hall, where there is room for all, and begin an hour later."
    for topic in TOPICS
]
OPTIONS = {"temperature": 0, "seed": 7, "max_tokens": 12}


@pytest.fixture
async def anna(engine: Engine, transactional_db: None) -> AsyncIterator[Visitor]:
    def connect() -> None:
        model = make_model("engine", base_url=engine.base_url() or "", window=ENGINE_CONTEXT)
        model.endpoint.is_local = True
        model.endpoint.save()

    await in_database(connect)
    runs.start_up(asyncio.get_running_loop())
    yield await Visitor.arrive(engine, "anna")  # type: ignore[arg-type]
    await runs.shut_down()
    await llm.close_clients()


async def talk(visitor: Visitor, *, folded_through: int | None = None) -> Chat:
    def make() -> Chat:
        model = LanguageModel.objects.get()
        chat = make_chat(visitor.user, *TALK, model=model, titled_by_hand=True, parameters=OPTIONS)
        if folded_through is not None:
            fold(chat, through=folded_through, summary="They planned a harbour fair: ropes, lamps, boats. " * 6)
        return chat

    return await in_database(make)


async def say(visitor: Visitor, chat: Chat, text: str) -> Message:
    response = await visitor.send(chat, text)
    assert response.status_code == 200, response.content.decode()
    await settled(chat, seconds=PATIENCE)
    return await last_message(chat)


async def ledger(kind: str) -> list[UsageRecord]:
    return await in_database(lambda: list(UsageRecord.objects.filter(kind=kind).order_by("pk")))


def cached_share(call: Any) -> float:
    return (call.cached_tokens or 0) / call.prompt_tokens


async def test_e1_all_that_was_sent_before_is_served_from_the_cache(anna: Visitor) -> None:
    """Whether the toy's summary is fit to be used doesn't matter here: the call is counted either way."""
    chat = await talk(anna)
    reply = await say(anna, chat, "Who keeps the list?")
    fourth = await message_at(chat, 3)  # a short summary of half of it will do
    await anna.post(f"/chats/{chat.pk}/compact/", up_to=fourth.pk)
    await settled(chat, seconds=PATIENCE)

    asked = (await ledger("compaction"))[0]
    assert asked.cached_tokens >= 0.95 * reply.prompt_tokens
    assert asked.prompt_tokens - asked.cached_tokens <= QUESTION_TOKENS + reply.completion_tokens
    (row,) = await compactions_of(chat)
    assert row.cached_tokens >= asked.cached_tokens


async def test_g5_turn_after_compaction_and_warming_is_served_from_the_cache(anna: Visitor) -> None:
    chat = await talk(anna, folded_through=3)
    await warm(chat.pk)
    reply = await say(anna, chat, "Who keeps the list?")

    assert cached_share(reply) >= 0.9
    (warming,) = await ledger("warming")
    assert warming.prompt_tokens <= reply.prompt_tokens


async def test_g3_second_turn_after_a_compaction_is_served_from_the_cache(anna: Visitor) -> None:
    chat = await talk(anna, folded_through=3)
    await say(anna, chat, "Who keeps the list?")
    second = await say(anna, chat, "And who else?")

    assert cached_share(second) >= 0.9
