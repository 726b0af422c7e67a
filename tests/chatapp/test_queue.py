"""What is sent while a reply is written: it waits off the path, and is sent once, in order, or taken back."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import events
from chatapp.archives import exporting
from chatapp.database import in_database
from chatapp.history import chats, loading, queueing, turns
from chatapp.history.errors import NotPossible
from chatapp.models import Chat, LanguageModel, Message, QueuedMessage, Run
from chatapp.runs import host, reaper
from compaction.titles import ASKED
from tests.factories import add_messages, make_chat
from tests.folding import is_summary_request, long_chat, summarising
from tests.scripted import Signal, cut, done, finish, head, hold, json_error, reply, text
from tests.visiting import Visitor, articles, compactions_of, last_message, refreshed, settled


def on_hold(*words: str) -> tuple[Signal, list]:
    gate = Signal()
    return gate, [head(), *map(text, words), hold(gate), text("End."), finish(), done()]


async def writing_chat(visitor: Visitor, *words: str) -> tuple[Chat, Signal]:
    """A chat with a name, whose second reply is being written until the signal is set; later ones say "OK"."""
    visitor.endpoint.always(reply("OK"))
    chat = await in_database(lambda: make_chat(visitor.user, "Hello", "Hi.", titled_by_hand=True))
    gate, script = on_hold(*words)
    visitor.endpoint.will(script)
    assert (await visitor.send(chat, "First")).status_code == 200
    await gate.reached()
    return chat, gate


async def said(chat: Chat) -> list[str]:
    """What the person said, in the path's order."""
    rows = chat.messages.on_path().filter(role="user")
    return await in_database(lambda: list(rows.values_list("content", flat=True)))


async def waiting(chat: Chat) -> list[str]:
    return await in_database(lambda: list(chat.queued.in_order().values_list("text", flat=True)))


async def press(visitor: Visitor, chat: Chat, words: str, what: str, **fields: Any) -> Any:
    row = await in_database(chat.queued.get, text=words)
    return await visitor.post(f"/chats/{chat.pk}/queue/{row.pk}/{what}/", **fields)


def shown(html: str) -> tuple[str, list[str]]:
    """What a page says of the queue, and the texts in it."""
    place = re.search(r'<div id="queue".*?(?=<div class="composer"|<div id="meter")', html, re.DOTALL)
    assert place
    line = re.search(r'id="queue-words"[^>]*>(.*?)</p>', place[0])
    texts = re.findall(r'<p id="queued-text-[^>]*>(.*?)</p>', place[0], re.DOTALL)
    return line[1] if line else "", [unescape(each) for each in texts]


def asked(visitor: Visitor, words: str) -> int:
    """How many calls asked for an answer to these words."""
    return [payload["messages"][-1]["content"] for payload in visitor.endpoint.payloads].count(words)


async def test_three_sent_while_a_reply_is_written_are_sent_once_each_in_order(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice, "Thinking")

    for words in ("Second", "Third", "Fourth"):
        response = await alice.send(chat, words)
        assert (response.status_code, response["HX-Trigger"]) == (200, '{"foldline:sent": {}}')
    meanwhile = await alice.page(chat)
    stored = await said(chat)
    gate.set()
    await settled(chat)

    assert shown(meanwhile) == ("3 messages wait for the reply to end.", ["Second", "Third", "Fourth"])
    assert stored == ["Hello", "First"]
    assert await said(chat) == ["Hello", "First", "Second", "Third", "Fourth"]
    assert [asked(alice, words) for words in ("Second", "Third", "Fourth")] == [1, 1, 1]
    page = await alice.page(chat)
    assert shown(page) == ("", [])
    assert [each["status"] for each in articles(page)] == ["complete"] * 10


async def test_message_too_many_stays_in_the_box_until_there_is_room(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)
    rows = [QueuedMessage(chat=chat, text=f"{number}") for number in range(queueing.MOST_WAITING)]
    await in_database(lambda: QueuedMessage.objects.bulk_create(rows))

    swapped = await alice.send(chat, "One too many", idempotency_key="k")
    page = await alice.post(f"/chats/{chat.pk}/send/", text="One too many", htmx=False)
    for answer in (swapped, page):
        assert answer.status_code == 422
        assert "30 messages of this chat wait already, which is the most." in answer.content.decode()
    assert "HX-Trigger" not in swapped
    assert re.search(r"<textarea[^>]*>\s*One too many</textarea>", page.content.decode())
    assert "One too many" not in await waiting(chat)

    await press(alice, chat, "0", "discard")
    assert (await alice.send(chat, "One too many", idempotency_key="k")).status_code == 200
    assert (await waiting(chat))[-1] == "One too many"
    await in_database(chat.queued.all().delete)
    gate.set()
    await settled(chat)


async def test_the_queue_is_the_same_in_every_tab_without_a_reload(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)

    async with alice.socket(chat) as tab:
        await alice.send(chat, "Second")
        assert shown(await tab.until('id="queued-')) == ("1 message waits for the reply to end.", ["Second"])
        await press(alice, chat, "Second", "discard")
        while shown(await tab.until('id="queue"')) != ("", []):
            pass

    gate.set()
    await settled(chat)
    assert await said(chat) == ["Hello", "First"]


async def test_double_enter_on_a_slow_line_is_one_message_and_one_call(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)

    for _ in range(2):
        await alice.send(chat, "Second", idempotency_key="k")
    queued = await waiting(chat)
    gate.set()
    await settled(chat)
    late = await alice.send(chat, "Second", idempotency_key="k")
    await settled(chat)

    assert queued == ["Second"]
    assert late.status_code == 200
    assert await said(chat) == ["Hello", "First", "Second"]
    assert asked(alice, "Second") == 1


async def test_c2_what_waits_is_in_no_request_and_in_no_size(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)
    before = await in_database(lambda: loading.load_situation(chat.pk))

    await alice.send(chat, "Second " + "and bread " * 500)
    after = await in_database(lambda: loading.load_situation(chat.pk))
    sheet = (await alice.client.get(f"/chats/{chat.pk}/request/")).content.decode()

    assert after.transcript == before.transcript
    assert after.meter() == before.meter()
    assert "and bread" not in sheet.partition('<div id="queue"')[0]
    gate.set()
    await settled(chat)


async def test_the_first_exchange_gets_its_title_once_nothing_waits_any_more(alice: Visitor) -> None:
    def answer(payload: dict[str, Any]) -> Any:
        return reply("Of bread" if payload["messages"][0]["content"] == ASKED else "OK")

    gate, script = on_hold("Thinking")
    alice.endpoint.will(script)
    alice.endpoint.always(answer)
    chat = await alice.start("First")
    await gate.reached()
    await alice.send(chat, "Second")
    await alice.send(chat, "Third")

    gate.set()
    await settled(chat)

    assert [payload["messages"][-1]["content"] for payload in alice.endpoint.payloads[:3]] == [
        "First",
        "Second",
        "Third",
    ]
    title = alice.endpoint.payloads[3]
    assert title["messages"][0]["content"] == ASKED
    assert "Second" not in str(title["messages"])
    assert (await refreshed(chat)).title == "Of bread"
    assert len(alice.endpoint.payloads) == 4


STOPPED = "The last reply ended early, so 2 messages wait for you."


async def test_stop_leaves_the_queue_alone_and_says_so(alice: Visitor) -> None:
    chat, _ = await writing_chat(alice, "Some words")
    await alice.send(chat, "Second")
    await alice.send(chat, "Third")

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)
    page = await alice.page(chat)

    assert shown(page) == (STOPPED, ["Second", "Third"])
    assert articles(page)[-1]["status"] == "stopped"
    assert await said(chat) == ["Hello", "First"]

    await press(alice, chat, "Second", "send")
    await settled(chat)
    assert await said(chat) == ["Hello", "First", "Second", "Third"]


@pytest.mark.parametrize(
    "script", [json_error(401, "Incorrect API key provided"), [head(), text("Half of "), cut()]], ids=["failed", "cut"]
)
async def test_after_a_reply_that_failed_the_queue_waits_for_the_person(alice: Visitor, script: list) -> None:
    chat, gate = await writing_chat(alice)
    await alice.send(chat, "Second")
    await alice.send(chat, "Third")
    await alice.send(chat, "Fourth")
    alice.endpoint.will(script)

    gate.set()
    await settled(chat)

    assert shown(await alice.page(chat)) == (STOPPED, ["Third", "Fourth"])
    assert await said(chat) == ["Hello", "First", "Second"]
    assert await in_database(queueing.due) == []


async def test_what_is_sent_while_the_queue_waits_for_the_person_goes_at_once_and_the_queue_after_it(
    alice: Visitor,
) -> None:
    chat, _ = await writing_chat(alice)
    await alice.send(chat, "Second")
    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    await alice.send(chat, "Rather this")
    await settled(chat)

    assert await said(chat) == ["Hello", "First", "Rather this", "Second"]


async def test_send_now_stops_the_reply_and_goes_first(alice: Visitor) -> None:
    chat, _ = await writing_chat(alice, "Some words ")
    await alice.send(chat, "Second")
    await alice.send(chat, "Third")

    await press(alice, chat, "Third", "send")
    await settled(chat)

    assert await said(chat) == ["Hello", "First", "Third", "Second"]
    first = await in_database(chat.messages.on_path().get, position=3)
    assert (first.status, first.content) == ("stopped", "Some words ")
    assert [asked(alice, words) for words in ("Second", "Third")] == [1, 1]


async def test_send_now_survives_the_death_of_whoever_was_to_stop_the_reply(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))
    begin = {"chat_id": chat.pk, "idempotency_key": "", "by": "another:1:x"}
    await in_database(queueing.send, text="First", **begin)
    await in_database(queueing.send, text="Second", **begin)
    await press(alice, chat, "Second", "send")
    assert await waiting(chat) == ["Second"]

    await in_database(Run.objects.update, lease_until=timezone.now() - timedelta(seconds=1))
    await in_database(reaper.reap)
    assert await in_database(queueing.due) == [chat.pk]
    await host.begin_next(chat.pk)
    await settled(chat)

    assert await said(chat) == ["Hello", "First", "Second"]
    assert (await last_message(chat)).content == "OK"


async def test_edit_takes_it_out_of_the_queue_and_without_javascript_into_the_box(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)
    await alice.send(chat, "Second <b>")
    await alice.send(chat, "Third")

    answer = await press(alice, chat, "Third", "edit")
    plain = await press(alice, chat, "Second <b>", "edit", htmx=False, text="Half a thought")

    assert shown(answer.content.decode()) == ("1 message waits for the reply to end.", ["Second <b>"])
    box = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", plain.content.decode(), re.DOTALL)
    assert box
    assert unescape(box[1]) == "Half a thought\n\nSecond <b>"
    gate.set()
    await settled(chat)
    assert await said(chat) == ["Hello", "First"]


@pytest.mark.parametrize("what", ["send", "edit", "discard"])
async def test_what_no_longer_waits_is_said_and_what_is_typed_stays(alice: Visitor, what: str) -> None:
    chat, gate = await writing_chat(alice)
    await alice.send(chat, "Second")
    row = await in_database(chat.queued.get)
    gate.set()
    await settled(chat)

    address = f"/chats/{chat.pk}/queue/{row.pk}/{what}/"
    refused = await alice.post(address)
    plain = await alice.post(address, htmx=False, text="Half a thought")

    assert refused.status_code == 409
    assert "no longer waits" in refused.content.decode()
    assert what != "edit" or "Half a thought" in plain.content.decode()
    assert await said(chat) == ["Hello", "First", "Second"]


async def test_a_waiting_message_of_another_chat_is_out_of_reach(alice: Visitor, charlie: Visitor) -> None:
    chat, gate = await writing_chat(alice)
    await alice.send(chat, "Second")
    row = await in_database(chat.queued.get)
    own = await in_database(lambda: make_chat(charlie.user, "Mine", "Yes."))

    for what in ("send", "edit", "discard"):
        assert (await charlie.post(f"/chats/{chat.pk}/queue/{row.pk}/{what}/")).status_code == 404
        assert (await charlie.post(f"/chats/{own.pk}/queue/{row.pk}/{what}/")).status_code == 409

    assert await waiting(chat) == ["Second"]
    gate.set()
    await settled(chat)


async def test_what_the_model_could_never_hold_is_refused_at_once_and_stays_in_the_box(alice: Visitor) -> None:
    chat, gate = await writing_chat(alice)
    await in_database(LanguageModel.objects.update, window_reported=2000)

    refused = await alice.send(chat, "bread " * 9000)
    empty = await alice.send(chat, " \n ")

    assert (refused.status_code, empty.status_code) == (422, 422)
    assert "HX-Trigger" not in refused
    assert await waiting(chat) == []
    gate.set()
    await settled(chat)


async def test_b2_a_waiting_message_folds_earlier_turns_before_it_is_asked(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=6, window=3000)
    gate = Signal()
    long = "Bread. " * 150
    alice.endpoint.will([head(), text(long), hold(gate), finish(), done()])
    alice.endpoint.always(summarising())
    await alice.send(chat, "First")
    await gate.reached()
    await alice.send(chat, "Second " + "and bread " * 60)

    gate.set()
    await settled(chat)

    folds = await compactions_of(chat)
    assert [(each.trigger, each.status) for each in folds] == [("send", "applied")]
    summary = next(payload for payload in alice.endpoint.payloads if is_summary_request(payload))
    assert "and bread" not in str(summary["messages"])
    assert (await last_message(chat)).content == "An answer."


# In the database


def send(chat: Chat, words: str, key: str = "") -> turns.Turn | None:
    return queueing.send(chat_id=chat.pk, text=words, idempotency_key=key, by=events.PROCESS)


def end(run: Run | None, status: Message.Status = Message.Status.COMPLETE) -> None:
    assert run is not None
    turns.finish_turn(run_id=run.pk, attempt=run.attempt, status=status, content="Yes.", reasoning="")


def run_of(turn: turns.Turn | None) -> Run | None:
    return turn.run if turn else None


@pytest.mark.django_db(transaction=True)
def test_thirty_sends_at_once_are_one_turn_and_twenty_nine_that_wait() -> None:
    chat = make_chat()

    def one(number: int) -> bool:
        try:
            return send(chat, f"number {number % 15}", key=f"k{number % 15}") is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(30) as people:
        list(people.map(one, range(30)))

    words = [*chat.messages.filter(role="user").values_list("content", flat=True)]
    words += chat.queued.values_list("text", flat=True)
    assert sorted(words) == sorted(f"number {number}" for number in range(15))
    assert chat.messages.count() == 2


@pytest.mark.django_db(transaction=True)
def test_thirty_who_send_the_next_at_once_send_it_once() -> None:
    chat = make_chat()
    run = run_of(send(chat, "First"))
    send(chat, "Second")
    send(chat, "Third")
    end(run)

    def one(_: int) -> bool:
        try:
            return queueing.begin_next(chat_id=chat.pk, by=events.PROCESS) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(30) as processes:
        begun = list(processes.map(one, range(30)))

    assert begun.count(True) == 1
    assert list(chat.messages.filter(role="user").values_list("content", flat=True)) == ["First", "Second"]
    assert list(chat.queued.values_list("text", flat=True)) == ["Third"]


@pytest.mark.django_db
def test_what_is_sent_behind_a_queue_that_goes_on_never_overtakes_it() -> None:
    chat = make_chat()
    run = run_of(send(chat, "First"))
    send(chat, "Second")
    end(run)

    turn = send(chat, "Third")

    assert turn is not None
    assert turn.message.content == "Second"
    assert list(chat.queued.values_list("text", flat=True)) == ["Third"]


@pytest.mark.django_db
def test_what_a_dead_process_should_have_sent_is_due_and_what_waits_for_the_person_is_not() -> None:
    going, resting, busy = make_chat(), make_chat(), make_chat()
    for chat, status in ((going, Message.Status.COMPLETE), (resting, Message.Status.STOPPED), (busy, None)):
        run = run_of(send(chat, "First"))
        send(chat, "Second")
        if status:
            end(run, status)

    with CaptureQueriesContext(connection) as asked:
        assert queueing.due() == [going.pk]
    assert len(asked) == 1
    resting.queued.update(at_once=True)
    busy.queued.update(at_once=True)
    assert set(queueing.due()) == {going.pk, resting.pk}


@pytest.mark.django_db(transaction=True)
def test_dead_at_any_statement_leaves_it_waiting_or_sent_never_both_nor_neither() -> None:
    statements = 0
    while True:
        chat = make_chat()
        run = run_of(send(chat, "First"))
        send(chat, "Second", key="k")
        end(run)
        calls = 0

        def die(execute: Any, sql: str, *args: Any, limit: int = statements) -> Any:
            nonlocal calls
            calls += not sql.startswith("ROLLBACK")
            if calls > limit and not sql.startswith("ROLLBACK"):
                raise ConnectionError("killed")
            return execute(sql, *args)

        try:
            with connection.execute_wrapper(die):
                queueing.begin_next(chat_id=chat.pk, by=events.PROCESS)
        except ConnectionError:
            assert list(chat.queued.values_list("text", flat=True)) == ["Second"]
            assert chat.messages.count() == 2
            statements += 1
        else:
            break

    assert statements > 5
    assert chat.messages.filter(content="Second").count() == 1
    assert not chat.queued.exists()


@pytest.mark.django_db
def test_deleting_the_chat_deletes_what_waits_and_a_file_does_not_hold_it() -> None:
    chat = make_chat()
    send(chat, "First")
    send(chat, "Not said yet")

    assert "Not said yet" not in "".join(exporting.chat_json(chat.pk))
    chats.delete_chat(chat_id=chat.pk)

    assert not QueuedMessage.objects.exists()


@pytest.mark.django_db
def test_taking_back_what_is_not_there_is_refused() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    add_messages(chat, "More", "Here.")

    with pytest.raises(NotPossible, match="not_waiting"):
        queueing.take_back(chat_id=chat.pk, queued_id=1)
