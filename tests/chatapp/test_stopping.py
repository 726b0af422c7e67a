"""Whatever a call is waiting for, it is given up at once; sixty that never answer hold up nobody; each is tried once.

None of the phases ends by itself while a test is ready to wait, so that it ended at all is the doing of the stop.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from django.conf import settings
from django.test import AsyncClient

from chatapp import runs
from chatapp.database import in_database
from chatapp.llm import clients, network
from chatapp.models import Chat, Endpoint, LanguageModel, Message, Run, UsageRecord
from chatapp.runs import host
from tests.folding import SUMMARY, is_summary_request, long_chat, press, summarising
from tests.scripted import Answer, Signal, delta, drop, hang, head, hold, json_error, reply, text, wire
from tests.visiting import Visitor, compactions_of, last_message, settled

NAME = "silent.example"
Reached = Callable[[], Awaitable[None]]


async def until(is_so: Callable[[], bool], *, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.01)


# --- Stop, in every phase ---


@dataclass
class Phase:
    """Brings a call to where it waits; `reached` returns once one is there."""

    visitor: Visitor
    monkeypatch: pytest.MonkeyPatch
    stack: ExitStack
    gate: Signal = field(default_factory=Signal)

    async def lead_to(self, base_url: str) -> None:
        await in_database(Endpoint.objects.update, base_url=base_url)

    async def a_name_that_nobody_answers_for(self) -> Reached:
        is_asked, may_end = threading.Event(), threading.Event()
        real = socket.getaddrinfo

        def silent(host: str, *arguments: object, **options: object) -> object:
            if host == NAME:
                is_asked.set()
                may_end.wait(30)
            return real(host, *arguments, **options)  # type: ignore[arg-type]

        self.monkeypatch.setattr(socket, "getaddrinfo", silent)
        self.stack.callback(may_end.set)
        await self.lead_to(f"http://{NAME}/v1")
        return lambda: until(is_asked.is_set)

    async def a_connection_that_is_never_made(self) -> Reached:
        is_begun = asyncio.Event()

        async def connect(self: object, host: str, *_: object, **__: object) -> None:
            is_begun.set()
            await asyncio.Event().wait()

        self.monkeypatch.setattr("httpcore2.AnyIOBackend.connect_tcp", connect)
        return lambda: until(is_begun.is_set)

    async def a_handshake_that_is_never_answered(self) -> Reached:
        """A plain server waits for the end of a head, which the client's greeting doesn't hold."""
        await self.lead_to(self.visitor.endpoint.base_url.replace("http:", "https:"))
        return lambda: until(lambda: bool(self.visitor.endpoint._connections))

    async def an_answer_that_never_begins(self) -> Reached:
        return self._script([hold(self.gate)])

    async def half_a_head(self) -> Reached:
        return self._script([wire(b"HTTP/1.1 200 OK\r\nContent"), hold(self.gate)])

    async def a_first_word_that_never_comes(self) -> Reached:
        return self._script([head(), delta({"role": "assistant"}), hold(self.gate)])

    async def a_second_word_that_never_comes(self) -> Reached:
        return self._script([head(), text("One "), hold(self.gate)])

    async def an_error_that_never_ends(self) -> Reached:
        return self._script([head(400, "application/json"), hold(self.gate)])

    async def the_pause_before_another_try(self) -> Reached:
        self.visitor.endpoint.always(json_error(429, "slow down", {"Retry-After": "20"}))
        return lambda: until(lambda: any(live.waiting == "busy" for live in host._live.values()))

    async def a_compaction_before_the_reply(self) -> Reached:
        self.visitor.endpoint.always(summarising(lambda _: [hold(self.gate)]))
        await in_database(LanguageModel.objects.update, window_reported=2600)
        return self.gate.reached

    def _script(self, script: list) -> Reached:
        self.visitor.endpoint.always(script)
        return self.gate.reached


PHASES = [name for name in vars(Phase) if name.split("_")[0] in {"a", "an", "half", "the"}]


@pytest.fixture
def phase(alice: Visitor, monkeypatch: pytest.MonkeyPatch) -> Iterator[Phase]:
    with ExitStack() as stack:
        yield Phase(alice, monkeypatch, stack)


@pytest.mark.parametrize("name", PHASES)
async def test_stop_ends_a_reply_at_once_whatever_it_waits_for(alice: Visitor, phase: Phase, name: str) -> None:
    chat = await long_chat(alice, turns=8)
    reached = await getattr(phase, name)()
    await alice.send(chat, "Go on")
    await reached()

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    message = await last_message(chat)
    assert (message.status, message.failure) == ("stopped", "")
    assert message.content == ("One " if "second_word" in name else "")
    assert {one.status for one in await compactions_of(chat)} <= {"cancelled"}
    if alice.endpoint.requests and "pause" not in name:
        await alice.endpoint.requests[-1].left.seen()


# --- what nobody presses Stop for ---


def title_hangs(gate: Signal) -> Answer:
    return lambda payload: [hold(gate)] if is_summary_request(payload) else reply("It is in winter that dough sleeps.")


def warming_hangs(gate: Signal) -> Answer:
    def script(payload: dict) -> list:
        if payload.get("max_tokens") == 1:
            return [hold(gate)]
        return list(reply(SUMMARY) if is_summary_request(payload) else reply("Answered."))

    return script


async def test_prompt_of_a_reply_that_is_stopped_before_its_first_word_is_counted_as_estimated(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)
    before = await in_database(UsageRecord.objects.count)
    gate = Signal()
    alice.endpoint.will([head(), hold(gate)])
    await alice.send(chat, "Go on")
    await gate.reached()

    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    record = await in_database(UsageRecord.objects.order_by("-pk").first)
    assert await in_database(UsageRecord.objects.count) == before + 1
    assert record.prompt_tokens > 0
    assert (record.completion_tokens, record.measured) == (0, False)


async def test_shutdown_gives_up_a_title_at_once(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(title_hangs(gate))
    await alice.start("Why does my sourdough fail in the cold months of the year, every single time?")
    await gate.reached()

    await asyncio.wait_for(runs.shut_down(), 10)

    await alice.endpoint.requests[-1].left.seen()
    assert not await in_database(Run.objects.live().exists)


async def test_shutdown_gives_up_a_warming_at_once(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(warming_hangs(gate))
    chat = await long_chat(alice)
    await in_database(Endpoint.objects.update, is_local=True)
    await in_database(LanguageModel.objects.update, window_reported=8000)
    await press(alice, chat)
    await gate.reached()

    await asyncio.wait_for(runs.shut_down(), 10)

    await alice.endpoint.requests[-1].left.seen()


# --- one layer that tries again ---


async def test_every_kind_of_call_is_tried_once_more_and_by_one_layer_only(alice: Visitor) -> None:
    """A dropped connection is worth one more try. Two layers would make four of it, three would make eight."""
    chat = await long_chat(alice)
    alice.endpoint.always(drop())
    await alice.say(chat, "Go on")
    after_reply = len(alice.endpoint.requests)
    await press(alice, chat)
    after_compaction = len(alice.endpoint.requests)
    await in_database(Endpoint.objects.update, failures=0, rests_until=None)
    alice.endpoint.always(lambda payload: drop() if is_summary_request(payload) else reply("It is in winter."))
    titled = await alice.start("Why does my sourdough fail in the cold months of the year, every single time?")
    await settled(titled)

    assert (after_reply, after_compaction - after_reply, len(alice.endpoint.requests) - after_compaction) == (2, 2, 3)


async def test_neither_the_client_nor_what_is_below_it_tries_again(alice: Visitor) -> None:
    await settled(await alice.start("Hello"))
    (connection_,) = clients._connections[asyncio.get_running_loop()].values()
    assert connection_.client.max_retries == 0
    transport = connection_.client._client._transport
    assert isinstance(transport, network.DirectTransport)
    assert transport._pool._retries == 0  # type: ignore[union-attr]


# --- sixty that never answer ---


@pytest.fixture
async def sixty(alice: Visitor) -> AsyncIterator[list[Chat]]:
    """Chats whose replies have no first word; all of their requests have come in."""
    alice.endpoint.always([hang()])
    chats = [await alice.start(f"Hello {number}") for number in range(60)]
    await alice.endpoint.received(60, seconds=60)
    yield chats
    await runs.shut_down()


async def test_sixty_calls_that_never_answer_hold_neither_thread_nor_connection_nor_page(
    alice: Visitor, sixty: list[Chat]
) -> None:
    """They are more than there are threads or connections: held by each while it waits, none would be left."""
    assert await in_database(Run.objects.live().count) == 60
    assert settings.DATABASE_CONNECTIONS < 60
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 30) == "free"

    async with asyncio.timeout(60):
        pages = [await AsyncClient().get("/accounts/login/"), await alice.client.get(f"/chats/{sixty[30].pk}/")]
    alice.endpoint.will(reply("I am here."))
    other = await alice.start("And you?")
    await settled_alone(other)

    assert [page.status_code for page in pages] == [200, 200]
    assert (await last_message(other)).content == "I am here."
    assert await in_database(Run.objects.live().count) == 60
    assert await in_database(Message.objects.filter(status="failed").count) == 0


async def settled_alone(chat: Chat) -> None:
    """As `settled`, which waits for every task of the process."""
    async with asyncio.timeout(60):
        while await in_database(Run.objects.live().filter(chat=chat).exists):
            await asyncio.sleep(0.02)
