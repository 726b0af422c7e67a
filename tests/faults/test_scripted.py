"""The scripted endpoint's own promises, where other tests lean on them."""

from __future__ import annotations

import asyncio

from chatapp.llm import close_clients, complete
from tests.faults.calls import HELLO, call, target_of
from tests.scripted import ScriptedEndpoint, Signal, done, finish, head, hold, reply, text


def test_endpoint_in_a_thread_answers_and_waits_for_signals() -> None:
    gate = Signal()
    with ScriptedEndpoint.in_thread() as endpoint:
        endpoint.will([head(), text("One "), hold(gate), text("two"), finish(), done()])

        async def talk() -> str:
            task = asyncio.create_task(complete(target_of(endpoint), HELLO))
            await gate.reached()
            gate.set()
            words = (await task).text
            await close_clients()
            return words

        assert asyncio.run(talk()) == "One two"
        endpoint.wait_received(1).done.wait()


async def test_endpoint_answers_by_payload_once_its_queue_is_empty(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(lambda payload: reply(payload["messages"][-1]["content"].upper()))
    endpoint.will(reply("First"))
    assert [(await call(endpoint)).text for _ in range(2)] == ["First", "HELLO"]


async def test_endpoint_counts_prompt_tokens_by_length(endpoint: ScriptedEndpoint) -> None:
    usage = (await call(endpoint)).usages[0].usage
    assert (usage.prompt, usage.completion) == (4 + 5 // 4, 1)
