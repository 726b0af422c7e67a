"""The one layer that tries again: before the first token only, visibly, and so that it can be cancelled."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from email.utils import formatdate

import pytest

from chatapp.llm import Patience, Target, close_clients, complete, stream_chat
from chatapp.llm.deltas import TextDelta, Waiting
from chatapp.llm.errors import EndpointBusy, EndpointFailed, EndpointUnreachable
from tests.faults.calls import AT_ONCE, HELLO, KEY, Outcome, call, outcome_of, target_of
from tests.scripted import ScriptedEndpoint, Step, cut, drop, hang, head, json_error, reply, reset, text

TOKEN_THEN_HANG = [head(), text("One"), hang()]


# --- the connection ---


@pytest.mark.parametrize(
    "script", [drop(), [reset()], [head(), cut()]], ids=["dropped", "reset", "dropped after the head"]
)
async def test_connection_lost_before_the_first_byte_is_tried_once_more(
    endpoint: ScriptedEndpoint, script: list[Step]
) -> None:
    """Refuses, resets or drops the connection before the first byte."""
    endpoint.will(script, reply("Hi"))
    assert (await call(endpoint)).text == "Hi"


async def test_connection_lost_twice_is_unreachable(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(drop())
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointUnreachable)
    assert len(endpoint.requests) == 2


async def test_connection_refused_is_tried_once_more_visibly() -> None:
    async with ScriptedEndpoint() as gone:
        pass
    outcome = await outcome_of(stream_chat(target_of(gone), HELLO, patience=AT_ONCE))
    await close_clients()
    assert outcome.waits == [Waiting(1, "unreachable")]
    assert outcome.code == "unreachable"


# --- the server's own faults ---


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_server_error_is_tried_twice_more_with_jitter(endpoint: ScriptedEndpoint, status: int) -> None:
    """5xx: retry with jitter before the first token only."""
    endpoint.will(json_error(status, "oops"), json_error(status, "oops"), reply("Hi"))
    outcome = await call(endpoint)
    assert outcome.text == "Hi"
    assert outcome.waits == [Waiting(0.75, "server_error"), Waiting(1.5, "server_error")]


async def test_server_error_for_ever_fails_with_its_words(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(json_error(500, "oops"))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointFailed)
    assert (outcome.code, outcome.detail, len(endpoint.requests)) == ("server_error", "oops", 3)


async def test_server_that_names_a_time_is_busy(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(503, "overloaded", {"Retry-After": "120"}))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointBusy)
    assert outcome.error.retry_after == 120


async def test_server_that_loads_its_model_is_waited_for(endpoint: ScriptedEndpoint) -> None:
    loading = json_error(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    endpoint.will(*[loading] * 9, reply("Hi"))
    outcome = await call(endpoint)
    assert (outcome.text, len(outcome.waits)) == ("Hi", 9)


async def test_server_that_loads_for_longer_than_a_first_token_may_take_fails(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(json_error(503, "Loading model"))
    outcome = await call(endpoint, first_token_seconds=7)
    assert (outcome.code, len(outcome.waits)) == ("server_error", 3)


# --- the rate limit ---


@pytest.mark.parametrize("seconds", ["1", "20"])
async def test_rate_limit_with_a_short_wait_is_waited_for_visibly(endpoint: ScriptedEndpoint, seconds: str) -> None:
    """429 with Retry-After 1 and 20."""
    slept: list[float] = []
    endpoint.will(json_error(429, "slow down", {"Retry-After": seconds}), reply("Hi"))
    outcome = await call(endpoint, patience=_counting(slept))
    assert outcome.waits == [Waiting(float(seconds), "busy")]
    assert (slept, outcome.text) == ([float(seconds)], "Hi")


@pytest.mark.parametrize("is_date", [False, True], ids=["seconds", "date"])
async def test_rate_limit_with_a_long_wait_fails_at_once_and_names_the_time(
    endpoint: ScriptedEndpoint, is_date: bool
) -> None:
    """429 with Retry-After 300."""
    told = formatdate(time.time() + 300, usegmt=True) if is_date else "300"
    endpoint.will(json_error(429, "slow down", {"Retry-After": told}))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointBusy)
    assert outcome.error.retry_after == pytest.approx(300, abs=2)
    assert (outcome.waits, len(endpoint.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [
        ("Please try again in 1m2.5s.", 62.5),
        ("Please try again in 430ms.", 0.43),
        ("Please retry after 26 seconds.", 26),
        ("Try again in 2h3m", 7380),
        ("Slow down", None),
    ],
)
async def test_rate_limit_tells_its_wait_in_a_sentence(
    endpoint: ScriptedEndpoint, sentence: str, seconds: float | None
) -> None:
    endpoint.always(json_error(429, sentence))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointBusy)
    assert outcome.error.retry_after == pytest.approx(seconds)


async def test_rate_limit_for_ever_fails_after_three_waits(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(json_error(429, "slow down", {"Retry-After": "1"}))
    outcome = await call(endpoint)
    assert (outcome.code, len(outcome.waits)) == ("busy", 3)


async def test_rate_limit_wait_can_be_cancelled(endpoint: ScriptedEndpoint) -> None:
    endpoint.always(json_error(429, "slow down", {"Retry-After": "20"}))
    is_waiting = asyncio.Event()
    task = asyncio.create_task(_until(Waiting, endpoint, is_waiting))
    await is_waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(endpoint.requests) == 1


# --- after the first token ---


async def test_fault_after_the_first_token_is_never_tried_again(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), text("One"), reset()])
    await call(endpoint)
    assert len(endpoint.requests) == 1


# --- leaving ---


async def test_cancelled_task_closes_the_connection_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(TOKEN_THEN_HANG)
    has_text = asyncio.Event()
    task = asyncio.create_task(_until(TextDelta, endpoint, has_text))
    await has_text.wait()
    task.cancel()
    await endpoint.requests[0].left.seen(1)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelled_task_before_the_first_byte_closes_the_connection_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([hang()])
    task = asyncio.create_task(call(endpoint))
    received = await endpoint.received()
    task.cancel()
    await received.left.seen(1)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_closed_generator_closes_the_connection_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(TOKEN_THEN_HANG)
    events = stream_chat(target_of(endpoint), HELLO)
    async with aclosing(events):
        assert await anext(events) == TextDelta("One")
    await endpoint.requests[0].left.seen(1)


async def test_cancelled_completion_closes_the_connection_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(TOKEN_THEN_HANG)
    task = asyncio.create_task(complete(target_of(endpoint), HELLO))
    received = await endpoint.received()
    task.cancel()
    await received.left.seen(1)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_sixty_calls_that_never_answer_do_not_hold_up_another(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(*[[hang()]] * 60)
    tasks = [asyncio.create_task(call(endpoint)) for _ in range(60)]
    await endpoint.received(60)
    assert (await call(endpoint)).text == "OK"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


# --- whole replies ---


async def test_completion_is_the_stream_in_one_value(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(500, "oops"), reply(" Hello there \n", thoughts="Hm.", usage=(10, 2)))
    completion = await complete(target_of(endpoint), HELLO, patience=AT_ONCE)
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("Hello there", "Hm.", "stop")
    assert completion.usage
    assert (completion.usage.prompt, completion.usage.completion) == (10, 2)


def test_target_shows_no_key() -> None:
    assert KEY not in repr(Target("http://127.0.0.1/v1", KEY, "m"))


def _counting(slept: list[float]) -> Patience:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return Patience(sleep=sleep)


async def _until(kind: type, endpoint: ScriptedEndpoint, seen: asyncio.Event) -> Outcome:
    async with aclosing(stream_chat(target_of(endpoint), HELLO)) as events:
        async for event in events:
            if isinstance(event, kind):
                seen.set()
    raise AssertionError("was not cancelled")
