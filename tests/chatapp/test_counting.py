"""Calls that aren't replies count for their owner's day, whatever the endpoint says of them and however they end."""

from __future__ import annotations

import pytest

from chatapp.database import in_database
from chatapp.models import DailyUse, UsageRecord
from compaction.tokens import estimate_text
from tests.folding import SUMMARY, is_summary_request, long_chat, press, summarising
from tests.scripted import Answer, Signal, cut, head, hold, json_error, reply, text
from tests.visiting import Visitor, compactions_of, settled

PROMPT_TOKENS = 1_000  # at least: six turns, about 170 tokens a message, of which some are summarised


async def records(kind: str) -> list[UsageRecord]:
    return await in_database(lambda: list(UsageRecord.objects.filter(kind=kind).order_by("pk")))


async def day_of(visitor: Visitor) -> int:
    return await in_database(lambda: sum(use.tokens for use in DailyUse.objects.filter(owner=visitor.user)))


async def test_i5_summary_that_no_endpoint_counted_is_in_the_ledger_as_an_estimate(alice: Visitor) -> None:
    alice.endpoint.always(summarising(reply(SUMMARY, usage=None)))
    chat = await long_chat(alice)

    compaction = await press(alice, chat)

    (record,) = await records("compaction")
    assert (compaction.status, record.measured) == ("applied", False)
    assert record.prompt_tokens > PROMPT_TOKENS
    assert record.completion_tokens == estimate_text(SUMMARY)
    assert await day_of(alice) == record.prompt_tokens + record.completion_tokens
    assert compaction.prompt_tokens == 0  # its own figures are measured ones alone


async def test_i5_title_that_no_endpoint_counted_is_in_the_ledger_as_an_estimate(alice: Visitor) -> None:
    alice.endpoint.will(reply("It is in winter that dough sleeps."), reply("Sourdough in winter", usage=None))
    await settled(await alice.start("Why does my sourdough fail in the cold months of the year, every single time?"))

    (record,) = await records("title")
    assert not record.measured
    assert record.prompt_tokens > estimate_text("It is in winter that dough sleeps.")
    assert record.completion_tokens == estimate_text("Sourdough in winter")


@pytest.mark.parametrize("written", ["", "The person asked"])
async def test_i5_cancelled_compaction_counts_what_the_endpoint_had_and_wrote(alice: Visitor, written: str) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), *([text(written)] if written else []), hold(gate)]))
    chat = await long_chat(alice)
    await alice.post(f"/chats/{chat.pk}/compact/")
    await gate.reached()
    (running,) = await compactions_of(chat)

    await alice.post(f"/chats/{chat.pk}/compactions/{running.pk}/cancel/")
    await settled(chat)

    (record,) = await records("compaction")
    assert ((await compactions_of(chat))[0].status, record.measured) == ("cancelled", False)
    assert record.prompt_tokens > PROMPT_TOKENS
    assert record.completion_tokens <= estimate_text(written)  # the words may be on their way
    assert await day_of(alice) == record.prompt_tokens + record.completion_tokens


@pytest.mark.parametrize(
    ("answer", "is_counted"),
    [([head(), text("The person asked"), cut()], True), (json_error(400, "no"), False), ([cut()], False)],
    ids=["broke off", "refused", "never got through"],
)
async def test_i5_failed_call_counts_once_it_was_answered(alice: Visitor, answer: Answer, *, is_counted: bool) -> None:
    alice.endpoint.always(lambda payload: answer if is_summary_request(payload) else reply("Yes."))
    chat = await long_chat(alice)

    assert (await press(alice, chat)).status == "failed"
    assert bool(await records("compaction")) == is_counted
