"""The window was full before the reply began: folded, thoughts withdrawn, asked once more (rule B5)."""

from collections import deque
from typing import Any

import pytest

from chatapp.database import in_database
from chatapp.models import Chat, LanguageModel, SiteSettings, UsageRecord
from compaction.memory import MOST_FAILURES
from tests.folding import SUMMARY, is_summary_request, long_chat
from tests.scripted import Answer, Signal, done, finish, head, hold, json_error, reasoning, reply, text, usage_only
from tests.visiting import Visitor, compactions_of, last_message, settled

# Twelve messages of 170 tokens: under the trigger of 2,550, and with 600 tokens of reasoning over it.
WINDOW = 3_000
FULL = reply("", thoughts="Let me think. ", finish_reason="length", usage=(2_000, 600))


def answering(visitor: Visitor, *answers: Answer, summary: Answer = ()) -> None:
    """These replies in their order; a summary whenever one is asked for."""
    queue = deque(answers)

    def script(payload: dict[str, Any]) -> Any:
        if is_summary_request(payload):
            return summary or reply(SUMMARY)
        return queue.popleft()

    visitor.endpoint.always(script)


async def test_b5_folds_withdraws_the_thoughts_and_asks_once_more(alice: Visitor) -> None:
    answering(alice, FULL, reply("At last.", thoughts="Briefly."))
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    assert (answer.content, answer.status, answer.reasoning) == ("At last.", "complete", "Briefly.")
    assert [(c.trigger, c.status) for c in await compactions_of(chat)] == [("full", "applied")]
    assert SUMMARY in alice.endpoint.payloads[-1]["messages"][0]["content"]


async def test_b5_both_calls_are_in_the_ledger_and_the_row_tells_the_last(alice: Visitor) -> None:
    answering(alice, FULL, reply("At last.", usage=(700, 3)))
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    recorded = UsageRecord.objects.filter(kind="reply").order_by("pk").values_list("prompt_tokens", flat=True)
    assert await in_database(list, recorded) == [2_000, 700]
    assert answer.prompt_tokens == 700


async def test_b5_the_page_loses_the_thoughts_that_were_shown(alice: Visitor) -> None:
    gate = Signal()
    thinking = [head(), reasoning("A vain thought. "), finish("length"), usage_only(2_000, 600), done()]
    answering(alice, thinking, [head(), hold(gate), text("At last."), finish(), done()])
    chat = await long_chat(alice, window=WINDOW)

    async with alice.socket(chat) as socket:
        await alice.send(chat, "Go on")
        await socket.until("A vain thought.")
        await gate.reached()
        frame = await socket.until("data-whole")
        while "A vain thought." in frame:  # from before it was withdrawn
            frame = await socket.until("data-whole")
        page = await alice.page(chat)
        gate.set()
        await settled(chat)

    assert "data-reasoning-blocks" in frame
    assert "A vain thought." not in page


async def test_b5_visible_text_is_kept_as_the_reply_with_continue(alice: Visitor) -> None:
    answering(alice, reply("Half of", finish_reason="length", usage=(1_900, 200)))
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    assert (answer.content, answer.status) == ("Half of", "complete")
    assert await compactions_of(chat) == []
    assert ">Continue</button>" in await alice.page(chat)


async def test_b5_a_second_full_window_is_a_clear_error(alice: Visitor) -> None:
    answering(alice, FULL, FULL)
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    assert (answer.status, answer.failure) == ("failed", "window_full")
    assert len(await compactions_of(chat)) == 1
    assert "The window was full before the reply began" in await alice.page(chat)


async def test_b5_a_fold_that_fails_is_the_same_error_without_a_second_try(alice: Visitor) -> None:
    answering(alice, FULL, summary=json_error(400, "No summaries here"))
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    assert (answer.status, answer.failure) == ("failed", "window_full")
    assert [c.status for c in await compactions_of(chat)] == ["failed"]


async def test_b5_only_reasoning_in_a_roomy_window_stays_what_it_was(alice: Visitor) -> None:
    answering(alice, reply("", thoughts="Hm.", finish_reason="length", usage=(2_000, 10)))
    chat = await long_chat(alice, window=WINDOW)

    answer = await alice.say(chat, "Go on")

    assert answer.failure == "only_reasoning"
    assert await compactions_of(chat) == []


@pytest.mark.parametrize(
    ("facts", "threshold"), [({"policy": "everything"}, 85), ({}, 0)], ids=["everything", "threshold 0"]
)
async def test_b5_policy_and_threshold_0_forbid_it(alice: Visitor, facts: dict[str, Any], threshold: int) -> None:
    answering(alice, FULL)
    chat = await long_chat(alice, window=WINDOW, **facts)
    await in_database(SiteSettings.objects.update_or_create, defaults={"threshold_percent": threshold})

    answer = await alice.say(chat, "Go on")

    assert answer.failure == "window_full"
    assert await compactions_of(chat) == []


async def test_d4_b5_rests_after_three_failures(alice: Visitor) -> None:
    answering(alice, FULL)
    memory = {"failures": MOST_FAILURES, "model": "scripted"}
    chat = await long_chat(alice, window=WINDOW, compaction_memory=memory)

    assert (await alice.say(chat, "Go on")).failure == "window_full"
    assert await compactions_of(chat) == []


async def test_d4_a_send_that_has_been_folded_for_is_not_folded_for_again(alice: Visitor) -> None:
    answering(alice, FULL)
    chat = await long_chat(alice, window=2_400)

    answer = await alice.say(chat, "Go on")

    assert [c.trigger for c in await compactions_of(chat)] == ["send"]
    assert answer.failure == "window_full"


async def test_b5_stop_while_it_folds_ends_the_reply_as_stopped(alice: Visitor) -> None:
    gate = Signal()
    answering(alice, FULL, summary=[head(), hold(gate), *reply(SUMMARY)[1:]])
    chat = await long_chat(alice, window=WINDOW)
    await alice.send(chat, "Go on")
    await gate.reached()

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)
    gate.set()

    answer = await last_message(chat)
    assert (answer.status, answer.content) == ("stopped", "")
    assert [c.status for c in await compactions_of(chat)] == ["cancelled"]


async def test_b5_a_continuation_keeps_the_old_part_and_its_thoughts(alice: Visitor) -> None:
    answering(alice, FULL, reply(" and the rest."))
    chat = await long_chat(alice, window=WINDOW)
    await in_database(_cut_last, chat)
    old = await last_message(chat)

    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/continue/")
    await settled(chat)

    answer = await last_message(chat)
    assert (answer.content, answer.reasoning) == (old.content + " and the rest.", "An old thought.")
    assert [(c.trigger, c.status) for c in await compactions_of(chat)] == [("full", "applied")]


def _cut_last(chat: Chat) -> None:
    chat.messages.filter(position=11).update(finish_reason="length", reasoning="An old thought.")
    assert LanguageModel.objects.get().window_tokens == WINDOW
