"""Continue: a reply that broke off goes on in its place; old and new text, once, at every moment."""

import asyncio
from typing import Any

import pytest

from chatapp import events
from chatapp.database import in_database
from chatapp.history import continuing, loading, turns
from chatapp.history.errors import ChatBusy, NotPossible
from chatapp.models import Chat, LanguageModel, Message, Run, UsageRecord
from chatapp.runs import reaper
from compaction.resuming import GO_ON
from tests.factories import add_messages, make_chat
from tests.folding import long_chat, summarising
from tests.scripted import Signal, cut, done, finish, head, hold, json_error, reasoning, reply, text
from tests.visiting import Visitor, articles, compactions_of, last_message, settled

OLD, NEW = "The dough wants warmth", " and a long night."


async def cut_chat(visitor: Visitor, **facts: Any) -> Chat:
    """A chat whose last reply is `OLD`, cut at its greatest length; `facts` say otherwise."""

    def make() -> Chat:
        chat = make_chat(visitor.user, model=LanguageModel.objects.get(), titled_by_hand=True)
        add_messages(chat, "Tell me of bread", OLD, **{"finish_reason": "length", "model_name": "scripted"} | facts)
        return chat

    return await in_database(make)


async def go_on(visitor: Visitor, chat: Chat, **options: Any) -> int:
    """The status of the answer to the press of "Continue" under the last message."""
    message = await last_message(chat)
    return (await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/continue/", **options)).status_code


async def went_on(visitor: Visitor, chat: Chat) -> Message:
    assert await go_on(visitor, chat) == 200
    await settled(chat)
    return await last_message(chat)


def on_hold(*words: str) -> tuple[Signal, list]:
    gate = Signal()
    return gate, [head(), *map(text, words), hold(gate), *reply(" The end.")[1:]]


async def test_a_cut_reply_goes_on_in_its_place_and_is_whole_after_a_reload(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    assert "breaks off here" in await alice.page(chat)
    alice.endpoint.will(reply(NEW))

    message = await went_on(alice, chat)
    page = await alice.page(chat)

    assert (message.content, message.status) == (OLD + NEW, "complete")
    assert page.count(OLD + NEW) == 2  # as it is shown, and as it is copied
    assert "breaks off here" not in page
    assert len(articles(page)) == 2
    assert "Continue" not in page


async def test_the_request_ends_with_the_old_text_and_a_question_that_is_stored_nowhere(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    alice.endpoint.will(reply(NEW))

    await went_on(alice, chat)
    await alice.say(chat, "Thank you")

    continued, then = (payload["messages"] for payload in alice.endpoint.payloads)
    assert continued == [
        {"role": "user", "content": "Tell me of bread"},
        {"role": "assistant", "content": OLD},
        {"role": "user", "content": GO_ON},
    ]
    assert then[1:] == [{"role": "assistant", "content": OLD + NEW}, {"role": "user", "content": "Thank you"}]


async def test_a_tab_sees_the_old_text_and_then_both(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    gate, script = on_hold(" and")
    alice.endpoint.will(script)

    async with alice.socket(chat) as socket:
        await go_on(alice, chat)
        frame = await socket.until(f"{OLD} and")
        page = await alice.page(chat)
        gate.set()
        ended = await socket.until("The end.")
        await settled(chat)

    assert frame.count(OLD) == 1
    assert page.count(f"{OLD} and") == 1
    assert articles(page)[-1]["status"] == "streaming"
    assert ended.count(OLD) <= 2


async def test_old_and_new_are_stored_while_it_writes_and_kept_when_the_process_dies(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    gate, script = on_hold(" and")
    alice.endpoint.will(script)
    await go_on(alice, chat)
    await gate.reached()

    message = await _until_stored(chat, f"{OLD} and")
    await in_database(_lose_owner, chat)
    await in_database(reaper.reap)
    taken_over = await last_message(chat)
    gate.set()

    assert (message.status, taken_over.status) == ("streaming", "interrupted")
    assert (taken_over.content, taken_over.failure) == (f"{OLD} and", "interrupted")
    assert taken_over.prompt_tokens is None
    assert "Continue" in await alice.page(chat)


@pytest.mark.parametrize(
    "before",
    [
        {"status": "complete", "finish_reason": "length"},
        {"status": "stopped", "finish_reason": ""},
        {"status": "interrupted", "finish_reason": "", "failure": "cut_off"},
    ],
    ids=lambda facts: facts["status"],
)
async def test_stop_before_a_word_leaves_text_note_and_usage_as_they_were(alice: Visitor, before: dict) -> None:
    chat = await cut_chat(alice, prompt_tokens=90, completion_tokens=12, **before)
    was = continuing.call_facts(await last_message(chat))
    gate, script = on_hold()
    alice.endpoint.will(script)
    await go_on(alice, chat)
    await gate.reached()

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    message = await last_message(chat)
    assert (message.content, message.status) == (OLD, before["status"])
    assert continuing.call_facts(message) == was
    assert "Continue" in await alice.page(chat)


async def test_stop_after_a_word_keeps_both_parts(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    gate, script = on_hold(" and")
    alice.endpoint.will(script)
    await go_on(alice, chat)
    await gate.reached()

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    message = await last_message(chat)
    assert (message.content, message.status, message.finish_reason) == (f"{OLD} and", "stopped", "")


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (json_error(401, "No"), "wrong_key"),
        ([head(), reasoning("Hm."), cut()], "cut_off"),
        ([head(), finish(), done()], "empty_reply"),
    ],
    ids=["refused", "broken", "empty"],
)
async def test_an_error_before_a_word_keeps_the_text_says_why_and_offers_both(
    alice: Visitor, fault: list, failure: str
) -> None:
    chat = await cut_chat(alice)
    alice.endpoint.will(fault)

    message = await went_on(alice, chat)
    page = await alice.page(chat)

    assert (message.content, message.reasoning) == (OLD, "")
    assert (message.status, message.failure) == ("failed", failure)
    assert ">Continue</button>" in page
    assert ">Retry</button>" in page


async def test_a_connection_that_ends_after_a_word_keeps_both_parts(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    alice.endpoint.will([head(), text(" and"), cut()])

    message = await went_on(alice, chat)

    assert (message.content, message.status, message.failure) == (f"{OLD} and", "interrupted", "cut_off")


async def test_a2_usage_is_that_of_the_last_call_whose_prompt_holds_the_old_part(alice: Visitor) -> None:
    chat = await cut_chat(alice, prompt_tokens=40, completion_tokens=500)
    alice.endpoint.will(reply(NEW, usage=(560, 7)))

    message = await went_on(alice, chat)
    situation = await in_database(loading.load_situation, chat.pk)

    assert (message.prompt_tokens, message.completion_tokens) == (560, 7)
    assert (situation.meter().used, situation.meter().measured) == (567, True)
    ledger = await in_database(lambda: list(UsageRecord.objects.values_list("prompt_tokens", "completion_tokens")))
    assert ledger == [(560, 7)]


async def test_two_presses_are_one_run_and_one_call(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    gate, script = on_hold(" and")
    alice.endpoint.will(script)

    statuses = await asyncio.gather(go_on(alice, chat), go_on(alice, chat))
    gate.set()
    await settled(chat)

    assert statuses == [200, 200]
    assert len(alice.endpoint.payloads) == 1
    assert (await last_message(chat)).content == f"{OLD} and The end."


async def test_thoughts_of_both_parts_are_kept_and_none_is_sent(alice: Visitor) -> None:
    chat = await cut_chat(alice, reasoning="First thought.")
    alice.endpoint.will(reply(NEW, thoughts="Second thought."))

    message = await went_on(alice, chat)

    assert message.reasoning == "First thought.\n\nSecond thought."
    assert "thought" not in str(alice.endpoint.payloads[0]["messages"])


async def test_it_goes_on_a_second_time(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    alice.endpoint.will(reply(" and", finish_reason="length"), reply(" time."))

    first = await went_on(alice, chat)
    second = await went_on(alice, chat)

    assert (first.content, first.finish_reason) == (f"{OLD} and", "length")
    assert (second.content, second.finish_reason) == (f"{OLD} and time.", "stop")


async def test_b2_a_full_chat_is_folded_before_the_reply_goes_on(alice: Visitor) -> None:
    alice.endpoint.always(summarising(answer=NEW))
    chat = await long_chat(alice, window=2500)
    await in_database(chat.messages.filter(position=11).update, finish_reason="length")
    old = (await last_message(chat)).content

    message = await went_on(alice, chat)

    assert [(c.trigger, c.status) for c in await compactions_of(chat)] == [("send", "applied")]
    assert message.content == old + NEW
    sent = alice.endpoint.payloads[-1]["messages"]
    assert [m["role"] for m in sent[-3:]] == ["user", "assistant", "user"]
    assert sent[-2]["content"] == old


async def test_without_javascript_it_is_a_plain_form(alice: Visitor) -> None:
    chat = await cut_chat(alice)
    alice.endpoint.will(reply(NEW))

    assert await go_on(alice, chat, htmx=False) == 302
    await settled(chat)

    assert (await last_message(chat)).content == OLD + NEW


async def test_a_stranger_finds_nothing_to_go_on_with(alice: Visitor, charlie: Visitor) -> None:
    chat = await cut_chat(alice)

    assert await go_on(charlie, chat) == 404
    assert alice.endpoint.payloads == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "facts",
    [
        {"status": "complete", "finish_reason": "stop"},
        {"status": "failed", "content": ""},
        {"status": "stopped", "content": "  \n"},
    ],
    ids=["whole", "wordless", "blank"],
)
def test_what_did_not_break_off_cannot_go_on(facts: dict[str, str]) -> None:
    chat = make_chat(None, "Hello", "Good day.")
    chat.messages.filter(position=1).update(**facts)
    reply_id = chat.messages.get(position=1).pk

    with pytest.raises(NotPossible):
        continuing.begin_continuation(chat_id=chat.pk, reply_id=reply_id, by=events.PROCESS)


@pytest.mark.django_db
def test_only_the_last_message_of_the_path_can_go_on() -> None:
    chat = make_chat(None, "Hello", "Good", "And?", "Well")
    chat.messages.update(finish_reason="length")
    first, last = chat.messages.get(position=1), chat.messages.get(position=3)

    with pytest.raises(NotPossible):
        continuing.begin_continuation(chat_id=chat.pk, reply_id=first.pk, by=events.PROCESS)
    turn = continuing.begin_continuation(chat_id=chat.pk, reply_id=last.pk, by=events.PROCESS)

    assert turn.run is not None
    assert Message.objects.get(pk=last.pk).status == "streaming"
    assert turn.continued is not None
    assert turn.continued.finish_reason == "length"


@pytest.mark.django_db
def test_while_another_reply_is_written_none_goes_on() -> None:
    chat = make_chat(None, "Hello", "Good")
    chat.messages.filter(position=1).update(finish_reason="length")
    cut_reply = chat.messages.get(position=1)
    turns.begin_turn(chat_id=chat.pk, text="More", idempotency_key="", by=events.PROCESS)

    with pytest.raises((ChatBusy, NotPossible)):
        continuing.begin_continuation(chat_id=chat.pk, reply_id=cut_reply.pk, by=events.PROCESS)
    assert Run.objects.live().count() == 1


async def _until_stored(chat: Chat, words: str) -> Message:
    async with asyncio.timeout(10):
        while (message := await last_message(chat)).content != words:
            await asyncio.sleep(0.05)
    return message


def _lose_owner(chat: Chat) -> None:
    Run.objects.live().filter(chat=chat).update(owner="gone:999999:x", lease_until="2000-01-01T00:00:00Z")
