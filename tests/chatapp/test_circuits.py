"""An endpoint that doesn't get through is left alone for a while: calls fail at once, one asks again, a person may."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from chatapp.admin.connecting import answer_of, look_into
from chatapp.database import in_database
from chatapp.history import circuits
from chatapp.llm import Probe, Target
from chatapp.models import Chat, Endpoint, Message
from tests.factories import make_model
from tests.folding import is_summary_request, long_chat, press
from tests.scripted import Signal, document, drop, finish, head, hold, json_error, reply, text
from tests.visiting import Visitor, last_message, settled

REST = "so it is left alone"


def open_circuit(*, seconds: float = 60, failures: int = circuits.OPENS_AFTER) -> None:
    Endpoint.objects.update(failures=failures, rests_until=timezone.now() + timedelta(seconds=seconds))


def columns() -> tuple[int, bool]:
    endpoint = Endpoint.objects.get()
    return endpoint.failures, endpoint.rests_until is not None


# --- the two columns ---


@pytest.fixture
def endpoint_id(db: None) -> int:
    return make_model().endpoint_id


def test_circuit_opens_at_the_third_failure_and_its_pauses_double_up_to_four_minutes(endpoint_id: int) -> None:
    pauses = []
    for _ in range(9):
        assert circuits.admit(endpoint_id) is None
        circuits.note_failure(endpoint_id, "unreachable", "no route")
        until = Endpoint.objects.get().rests_until
        pauses.append(round((until - timezone.now()).total_seconds()) if until else 0)
        if until:
            Endpoint.objects.update(rests_until=timezone.now())
    assert pauses == [0, 0, 15, 30, 60, 120, 240, 240, 240]


def test_calls_that_fail_at_the_same_moment_make_one_short_pause(endpoint_id: int) -> None:
    for _ in range(8):
        circuits.note_failure(endpoint_id, "unreachable", "no route")
    until = Endpoint.objects.get().rests_until
    assert until
    assert round((until - timezone.now()).total_seconds()) == circuits.FIRST_PAUSE_SECONDS
    assert circuits.admit(endpoint_id)


def test_circuit_lets_one_call_through_when_its_pause_is_over(endpoint_id: int) -> None:
    open_circuit(seconds=-1)
    assert [circuits.admit(endpoint_id) is None for _ in range(3)] == [True, False, False]


def test_circuit_closes_with_an_answer_and_counts_from_the_beginning(endpoint_id: int) -> None:
    open_circuit()
    circuits.note_answer(endpoint_id)
    circuits.note_failure(endpoint_id, "server_error", "oops")
    assert columns() == (1, False)
    assert circuits.admit(endpoint_id) is None


def test_circuit_of_an_endpoint_that_was_deleted_meanwhile_is_nobodys(endpoint_id: int) -> None:
    Endpoint.objects.all().delete()
    circuits.note_failure(endpoint_id, "unreachable", "")
    circuits.note_answer(endpoint_id)
    assert circuits.admit(endpoint_id) is None


@pytest.mark.parametrize("is_up", [True, False])
def test_check_in_the_admin_closes_the_circuit_of_one_that_answers(endpoint_id: int, *, is_up: bool) -> None:
    async def ask(target: Target) -> Probe:
        return Probe(ok=is_up, code="" if is_up else "unreachable", base_url=target.base_url)

    open_circuit(failures=4)
    endpoint = Endpoint.objects.get()
    look_into(endpoint, ask=ask, add_models=False)

    assert columns() == ((0, False) if is_up else (4, True))
    assert ("4 calls in a row didn’t get through" in answer_of(endpoint)) is not is_up


# --- the pages ---


async def test_endpoint_that_failed_three_times_is_not_asked_and_the_page_says_until_when(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    alice.endpoint.always(drop())
    for _ in range(circuits.OPENS_AFTER):
        assert (await alice.say(chat, "Are you there?")).failure == "unreachable"
    calls = len(alice.endpoint.requests)

    failed = await alice.say(chat, "And now?")

    assert (failed.failure, len(alice.endpoint.requests)) == ("endpoint_rests", calls)
    assert failed.retry_at
    assert timedelta(0) < failed.retry_at - timezone.now() <= timedelta(seconds=circuits.FIRST_PAUSE_SECONDS)
    page = unescape(await alice.page(chat))
    assert REST in page
    assert "has failed 3 times in a row" in page
    assert "so it was not asked" in page
    assert "And now?" in page
    assert REST in unescape((await alice.client.get("/")).content.decode())


async def test_retry_asks_an_endpoint_that_is_left_alone_and_an_answer_ends_it(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    await in_database(open_circuit)
    failed = await alice.say(chat, "And now?")

    await alice.post(f"/chats/{chat.pk}/messages/{failed.pk}/retry/")
    await settled(chat)

    assert (await last_message(chat)).content == "OK"
    assert REST not in await alice.page(chat)
    assert await in_database(columns) == (0, False)


async def test_circuit_closes_by_itself_at_the_first_word_and_not_at_the_end_of_a_reply(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    await in_database(lambda: open_circuit(seconds=-1))
    gate = Signal()
    alice.endpoint.will([head(), text("It is "), hold(gate), text("back."), finish()])
    await alice.send(chat, "And now?")
    await gate.reached()

    async with asyncio.timeout(10):
        while await in_database(columns) != (0, False):
            await asyncio.sleep(0.01)

    gate.set()
    await settled(chat)
    assert (await last_message(chat)).content == "It is back."


async def test_of_many_chats_one_asks_when_the_pause_is_over(alice: Visitor) -> None:
    chats = [await alice.start(f"Hello {number}") for number in range(4)]
    for chat in chats:
        await settled(chat)
    before = len(alice.endpoint.requests)
    await in_database(lambda: open_circuit(seconds=-1))
    gate = Signal()
    alice.endpoint.will([hold(gate), *drop()])

    for chat in chats:
        await alice.send(chat, "And now?")
    await gate.reached()
    async with asyncio.timeout(10):
        while await in_database(Message.objects.filter(failure="endpoint_rests").count) < 3:
            await asyncio.sleep(0.01)
    gate.set()
    for chat in chats:
        await settled(chat)

    failures = sorted([(await last_message(chat)).failure for chat in chats])
    assert failures == ["", "endpoint_rests", "endpoint_rests", "endpoint_rests"]
    assert len(alice.endpoint.requests) == before + 2  # dropped once, and once more


@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        (json_error(502, "bad gateway"), True),
        (json_error(500, "oops"), False),
        (json_error(401, "Incorrect API key"), False),
        (json_error(429, "slow down", {"Retry-After": "300"}), False),
        (document("<html>hello</html>", content_type="text/html"), False),
        ([head(), text("Half"), *drop()], False),
    ],
    ids=["502", "500", "401", "429", "page", "cut off"],
)
async def test_only_what_did_not_get_through_is_counted(alice: Visitor, answer: list, *, counts: bool) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    await in_database(lambda: open_circuit(seconds=-1, failures=5))
    alice.endpoint.always(answer)

    await alice.say(chat, "And now?")

    assert await in_database(columns) == ((6, True) if counts else (0, False))


async def test_retry_that_fails_makes_no_pause_longer_and_opens_no_circuit(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    await in_database(lambda: open_circuit(seconds=60, failures=5))
    failed = await alice.say(chat, "And now?")
    await in_database(lambda: open_circuit(seconds=-1, failures=5))
    until = await in_database(lambda: Endpoint.objects.get().rests_until)
    alice.endpoint.always(drop())

    await alice.post(f"/chats/{chat.pk}/messages/{failed.pk}/retry/")
    await settled(chat)

    assert (await last_message(chat)).failure == "unreachable"
    assert await in_database(columns) == (5, True)
    assert await in_database(lambda: Endpoint.objects.get().rests_until) == until


async def test_title_compaction_and_warming_leave_it_alone_as_well(alice: Visitor) -> None:
    chat = await long_chat(alice, window=2600)
    await in_database(open_circuit)
    before = len(alice.endpoint.requests)

    compaction = await press(alice, chat)

    assert (compaction.status, compaction.reason) == ("failed", "endpoint_rests")
    assert len(alice.endpoint.requests) == before
    assert "had failed several times in a row and was not asked" in unescape(await alice.page(chat))


async def test_failures_of_every_kind_of_call_are_counted_together(alice: Visitor) -> None:
    chat = await long_chat(alice, window=2600)
    alice.endpoint.always(lambda payload: drop() if is_summary_request(payload) else reply("Yes."))

    for _ in range(circuits.OPENS_AFTER):
        assert (await press(alice, chat)).reason == "unreachable"

    assert await in_database(columns) == (3, True)
    assert await in_database(Chat.objects.filter(compacted_through=None).exists)
