"""What is done so that nobody waits: the idle moment, the cached prompt, the warm one; and what is learned."""

import asyncio
from typing import Any

import pytest

from chatapp.compacting import working
from chatapp.database import in_database
from chatapp.history import compactions, ledger, loading
from chatapp.models import Endpoint, LanguageModel, SiteSettings, UsageRecord
from chatapp.runs import host
from compaction.exact import exact_cap
from compaction.tokens import estimate_text
from tests.folding import (
    SUMMARY,
    TOO_LONG,
    WORDS,
    is_summary_request,
    long_chat,
    press,
    summarising,
    summary_calls,
)
from tests.scripted import Signal, done, finish, head, hold, json_error, reply, text
from tests.visiting import Visitor, compactions_of, last_message, refreshed, settled

SECOND_SUMMARY = "Afterwards they spoke of rye and of spelt, and agreed that the oven must be hotter at the beginning."


async def marked_as_caching(window: int = 8000) -> None:
    await in_database(Endpoint.objects.update, is_local=True)
    await in_database(LanguageModel.objects.update, window_reported=window)


def is_continuation(payload: dict) -> bool:
    return is_summary_request(payload) and payload["max_tokens"] > 1 and len(payload["messages"]) > 2


def warmings(visitor: Visitor) -> list[dict]:
    return [payload for payload in visitor.endpoint.payloads if payload.get("max_tokens") == 1]


async def test_b1_compaction_comes_in_the_idle_moment_after_the_reply_that_reached_the_trigger(alice: Visitor) -> None:
    alice.endpoint.always(
        lambda payload: reply(SUMMARY) if is_summary_request(payload) else reply("Yes.", usage=(2300, 9))
    )
    chat = await long_chat(alice, turns=4, window=2600)

    await alice.say(chat, "Go on")

    assert [(c.trigger, c.status) for c in await compactions_of(chat)] == [("idle", "applied")]
    assert not is_summary_request(alice.endpoint.payloads[0])


async def test_b1_switched_off_in_the_admin_it_waits_for_the_next_send(alice: Visitor) -> None:
    alice.endpoint.always(
        lambda payload: reply(SUMMARY) if is_summary_request(payload) else reply("Yes.", usage=(2300, 9))
    )
    chat = await long_chat(alice, turns=4, window=2600)
    await in_database(lambda: SiteSettings.objects.update_or_create(defaults={"compacts_when_idle": False}))

    await alice.say(chat, "Go on")
    assert await compactions_of(chat) == []
    await alice.say(chat, "And on")

    assert (await compactions_of(chat))[0].trigger == "send"


async def test_e1_summary_prolongs_the_last_request_byte_for_byte_where_the_endpoint_caches(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, system_prompt="Be kind.")
    await marked_as_caching()
    alice.endpoint.will(reply("An answer.", usage=(1500, 3, 1400)))
    await alice.say(chat, "Go on")
    last = alice.endpoint.payloads[-1]["messages"]

    compaction = await press(alice, chat)

    asked = summary_calls(alice)[0]["messages"]
    assert asked[: len(last)] == last
    assert asked[len(last)] == {"role": "assistant", "content": "An answer."}
    assert asked[-1]["role"] == "user"
    assert len(asked) == len(last) + 2
    assert (compaction.mode, compaction.status) == ("continuation", "applied")


async def test_e1_recorded_cached_share_alone_is_enough(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    for _ in range(3):
        alice.endpoint.will(reply("An answer.", usage=(1500, 3, 1200)))
        await alice.say(chat, "Go on")

    assert (await press(alice, chat)).mode == "continuation"


async def test_e1_the_question_comes_with_the_options_that_make_the_prompt_but_not_those_of_an_answer(
    alice: Visitor,
) -> None:
    options = {"top_p": 0.5, "reasoning_effort": "low"}
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, parameters={**options, "stop": ["\n"]})
    await marked_as_caching()
    alice.endpoint.will(reply("An answer.", usage=(1500, 3, 1400)))
    await alice.say(chat, "Go on")

    assert (await press(alice, chat)).mode == "continuation"
    await _background_done()

    asked, warming = [payload for payload in alice.endpoint.payloads if "max_tokens" in payload]
    for payload in (asked, warming):
        assert payload.items() >= options.items()
        assert "stop" not in payload


async def test_b1_idle_moment_comes_earlier_where_the_summary_is_asked_for_as_one_more_turn(alice: Visitor) -> None:
    alice.endpoint.always(
        lambda payload: reply(SUMMARY) if is_summary_request(payload) else reply("Yes.", usage=(3000, 9, 2900))
    )
    chat = await long_chat(alice, turns=8)
    await marked_as_caching(window=4096)
    meter = (await in_database(loading.load_situation, chat.pk)).meter()
    assert meter.idle_trigger < 3000 < meter.trigger

    await alice.say(chat, "Go on")

    assert [(c.trigger, c.mode, c.status) for c in await compactions_of(chat)] == [("idle", "continuation", "applied")]


async def test_e1_without_a_cache_it_is_a_transcript(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    alice.endpoint.will(reply("An answer.", usage=(1500, 3, 0)))
    await alice.say(chat, "Go on")

    assert (await press(alice, chat)).mode == "transcript"


async def test_e3_empty_continuation_falls_back_to_the_transcript_and_two_suspend_it(alice: Visitor) -> None:
    def script(payload: dict) -> list:
        if is_continuation(payload):
            return reply("", usage=(1500, 0))
        return reply(SUMMARY) if is_summary_request(payload) else reply(WORDS, usage=(1500, 3, 1400))

    alice.endpoint.always(script)
    chat = await long_chat(alice)
    await marked_as_caching()

    for _ in range(2):
        for _ in range(3):
            await alice.say(chat, WORDS)
        assert (await press(alice, chat)).mode == "transcript"

    model = await in_database(LanguageModel.objects.get)
    assert model.continuation_suspended == "empty"


async def test_e3_model_that_declines_twice_is_not_asked_again_for_a_continuation(alice: Visitor) -> None:
    def script(payload: dict) -> list:
        if is_continuation(payload):
            return reply("I'm sorry, but I can't write records of conversations.", usage=(1500, 12))
        return reply(SUMMARY) if is_summary_request(payload) else reply(WORDS, usage=(1500, 3, 1400))

    alice.endpoint.always(script)
    chat = await long_chat(alice)
    await marked_as_caching()

    for _ in range(3):
        for _ in range(3):
            await alice.say(chat, WORDS)
        assert (await press(alice, chat)).mode == "transcript"

    assert (await in_database(LanguageModel.objects.get)).continuation_suspended == "apology"
    assert sum(map(is_continuation, alice.endpoint.payloads)) == 2


async def test_e6_earlier_segments_stay_byte_for_byte(alice: Visitor) -> None:
    alice.endpoint.always(summarising(answer=WORDS))
    chat = await long_chat(alice, window=60_000)
    await press(alice, chat)
    first = (await refreshed(chat)).summary
    for _ in range(4):
        await alice.say(chat, WORDS)
    alice.endpoint.always(summarising(SECOND_SUMMARY))

    second = await press(alice, chat)

    whole = (await refreshed(chat)).summary
    assert whole.startswith(first)
    assert SECOND_SUMMARY in whole
    assert second.summary.startswith(SECOND_SUMMARY)
    assert len(second.segments) == 2


async def test_e6_undo_of_the_second_leaves_the_first_as_it_was(alice: Visitor) -> None:
    alice.endpoint.always(summarising(answer=WORDS))
    chat = await long_chat(alice, window=60_000)
    await press(alice, chat)
    first = (await refreshed(chat)).record()
    for _ in range(4):
        await alice.say(chat, WORDS)
    second = await press(alice, chat)

    await in_database(compactions.undo_compaction, chat_id=chat.pk, compaction_id=second.pk)

    assert (await refreshed(chat)).record() == first


async def test_e6_segments_over_a_tenth_of_the_window_are_merged_into_one(alice: Visitor) -> None:
    long_summary = " ".join(f"The {number}th matter was settled among them." for number in range(26))

    def script(payload: dict) -> list:
        if not is_summary_request(payload):
            return reply(WORDS, usage=None)
        return reply(SECOND_SUMMARY if "part 1 of 2" in str(payload["messages"]) else long_summary)

    alice.endpoint.always(script)
    chat = await long_chat(alice, window=4000)
    await press(alice, chat)
    for _ in range(4):
        await alice.say(chat, WORDS)

    merged = await press(alice, chat)

    assert merged.status == "applied"
    assert [segment["rank"] for segment in merged.segments] == [1]
    assert (await refreshed(chat)).summary.startswith(SECOND_SUMMARY)
    assert merged.segments[0]["from_position"] == 0


async def test_e6_nobody_waits_for_a_merge(alice: Visitor) -> None:
    """A message waits behind the second compaction; the third, for which nobody does, merges what was left."""
    long_summary = " ".join(f"The {number}th matter was settled among them." for number in range(26))

    def script(payload: dict) -> list:
        if not is_summary_request(payload):
            return reply(WORDS, usage=None)
        return reply(SECOND_SUMMARY if "part 1 of " in str(payload["messages"]) else long_summary)

    alice.endpoint.always(script)
    chat = await long_chat(alice, turns=4, window=4000)
    await press(alice, chat)
    await in_database(lambda: SiteSettings.objects.update_or_create(defaults={"compacts_when_idle": False}))
    while len(await compactions_of(chat)) < 2:
        await alice.say(chat, WORDS)
    second = (await compactions_of(chat))[1]
    assert (second.trigger, [segment["rank"] for segment in second.segments]) == ("send", [0, 0])
    for _ in range(4):
        await alice.say(chat, WORDS)

    third = await press(alice, chat)

    assert [segment["rank"] for segment in third.segments] == [1]


async def test_h3_values_of_merged_segments_may_take_what_the_record_has_left(alice: Visitor) -> None:
    long_summary = " ".join(f"The {number}th matter was settled among them." for number in range(22))

    def script(payload: dict) -> list:
        if not is_summary_request(payload):
            return reply("Noted.", usage=None)
        return reply(SECOND_SUMMARY if "part 1 of 2" in str(payload["messages"]) else long_summary)

    alice.endpoint.always(script)
    chat = await long_chat(alice, turns=2, window=4000)
    tickets = [f"HB-{1001 + 7 * number}" for number in range(20)]
    for half in (tickets[:10], tickets[10:]):
        for ticket in half:
            await alice.say(chat, f"Please look at {ticket} as well. {WORDS}"[:500])
        await alice.say(chat, WORDS)
        compaction = await press(alice, chat)

    assert [segment["rank"] for segment in compaction.segments] == [1]
    whole = (await refreshed(chat)).summary
    archived = [ticket for ticket in tickets if ticket in whole]
    assert len(archived) * 16 > exact_cap(4000)
    assert archived == tickets[: len(archived)]
    assert estimate_text(whole) <= 400


async def test_g5_new_prompt_is_warmed_after_the_button_where_the_endpoint_caches(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await marked_as_caching()

    await press(alice, chat)
    await _background_done()
    await alice.say(chat, "And now?")

    (warming,) = warmings(alice)
    following = alice.endpoint.payloads[-1]["messages"]
    assert following[: len(warming["messages"])] == warming["messages"]


async def test_g5_warming_makes_way_for_a_message(alice: Visitor) -> None:
    gate = Signal()

    def script(payload: dict) -> list:
        if payload.get("max_tokens") == 1:
            return [head(), hold(gate), done()]
        return reply(SUMMARY) if is_summary_request(payload) else reply("Answered.")

    alice.endpoint.always(script)
    chat = await long_chat(alice)
    await marked_as_caching()
    await press(alice, chat)
    await gate.reached()
    warming = alice.endpoint.requests[-1]

    assert (await alice.say(chat, "And now?")).content == "Answered."

    await warming.left.seen()
    gate.set()
    await _background_done()
    assert not (await in_database(UsageRecord.objects.get, kind="warming")).measured  # the endpoint had the prompt


async def test_i5_warming_is_in_the_ledger_under_its_own_kind_and_never_in_the_chats_size(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await marked_as_caching()

    compaction = await press(alice, chat)
    await _background_done()

    record = await in_database(UsageRecord.objects.get, kind="warming")
    assert (record.chat_id, record.model_name) == (chat.pk, "scripted")
    assert record.prompt_tokens > 0
    assert (await in_database(loading.load_situation, chat.pk)).meter().used == compaction.tokens_after
    assert compaction.calls == 1


async def test_i1_a_look_between_the_record_and_the_end_of_its_task_takes_nothing_back(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = working.fold

    async def fold_slowly(*args: Any) -> Any:
        outcome = await fold(*args)
        watch = next(task for task in asyncio.all_tasks() if "_watch" in repr(task))
        await asyncio.wait({watch}, timeout=10)
        assert watch.done()
        return outcome

    monkeypatch.setattr(working, "fold", fold_slowly)
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await marked_as_caching()

    assert (await press(alice, chat)).status == "applied"
    await _background_done()

    assert len(warmings(alice)) == 1


async def test_i5_failing_ledger_fails_neither_the_compaction_nor_the_warming(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**facts: object) -> None:
        raise RuntimeError("the ledger is full")

    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await marked_as_caching()
    monkeypatch.setattr(ledger, "record_usage", fail)

    assert (await press(alice, chat)).status == "applied"
    await _background_done()

    assert len(warmings(alice)) == 1
    assert sum("could not be recorded" in record.message for record in caplog.records) == 2


async def test_g5_elsewhere_nothing_is_warmed(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)

    await press(alice, chat)
    await _background_done()

    assert warmings(alice) == []


async def test_a4_estimates_are_learned_from_recorded_usage(alice: Visitor) -> None:
    chat = await long_chat(alice)
    estimated = (await in_database(loading.load_situation, chat.pk)).meter().used
    for _ in range(5):
        alice.endpoint.will(reply("Yes.", usage=(round(estimated * 1.8), 1)))
        await alice.say(chat, "Go on")

    ratio = (await in_database(LanguageModel.objects.get)).estimate_ratio
    assert 1.62 < ratio < 1.98


async def test_a6_long_replies_move_the_trigger_down_and_the_meter_says_so(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, window=4000)
    before = (await in_database(loading.load_situation, chat.pk)).meter()
    alice.endpoint.will(reply("Much.", usage=(400, 1500)))

    await alice.say(chat, "Tell me everything")

    after = (await in_database(loading.load_situation, chat.pk)).meter()
    assert (before.trigger, before.headroom_moved) == (3400, False)
    assert (after.trigger, after.headroom_moved) == (2200, True)


async def test_b7_still_too_long_the_oldest_turns_are_left_out_of_the_request_and_shown(alice: Visitor) -> None:
    alice.endpoint.will(TOO_LONG)
    chat = await long_chat(alice, turns=8)
    asked: list[dict] = []

    def script(payload: dict) -> list:
        if is_summary_request(payload):
            return json_error(500, "no summary today")
        asked.append(payload)
        return TOO_LONG if len(asked) == 1 else reply("At last.")

    alice.endpoint.always(script)
    answer = await alice.say(chat, "Go on")

    assert (answer.content, answer.status) == ("At last.", "complete")
    assert answer.left_out
    assert len(asked[-1]["messages"]) < len(asked[0]["messages"])
    assert asked[-1]["messages"][-1]["content"] == "Go on"
    assert await in_database(chat.messages.count) == 18


async def test_i3_a_message_sent_in_the_idle_compaction_waits_and_is_answered(alice: Visitor) -> None:
    gate = Signal()

    def script(payload: dict) -> list:
        if is_summary_request(payload):
            return [head(), hold(gate), text(SUMMARY), finish(), done()]
        return reply("Yes.", usage=(2300, 9)) if len(alice.endpoint.payloads) == 1 else reply("Answered.")

    alice.endpoint.always(script)
    chat = await long_chat(alice, turns=4, window=2600)
    await alice.send(chat, "Go on")
    await gate.reached()

    await alice.send(chat, "Meanwhile")
    gate.set()
    await settled(chat)

    assert (await last_message(chat)).content == "Answered."


async def _background_done() -> None:
    """What the process does beside runs has ended: nobody waits for a warming, so a test has to."""
    warming = [task for task in host._background if "compact_and_warm" in repr(task)]
    await asyncio.wait_for(asyncio.gather(*warming), 10)
