"""Holds what the scripted endpoint pretends against the real engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from chatapp.engine import Engine
from chatapp.llm import Target, close_clients, complete, options, probe, stream_chat
from chatapp.llm.deltas import TextDelta
from chatapp.llm.errors import RequestTooLong
from tests.conftest import ENGINE_CONTEXT

pytestmark = pytest.mark.engine

STORY = [{"role": "user", "content": "Tell me a very long story about a fox."}]


@pytest.fixture
async def target(engine: Engine) -> AsyncIterator[Target]:
    yield Target(engine.base_url() or "", "", "demo")
    await close_clients()


async def test_engine_tells_its_window(target: Target) -> None:
    outcome = await probe(target)
    assert outcome.ok
    assert [model.window for model in outcome.models] == [ENGINE_CONTEXT]


async def test_engine_tells_cached_tokens(target: Target) -> None:
    question = [{"role": "user", "content": "Say one word about the sea."}]
    usages = [(await complete(target, question, max_tokens=2)).usage for _ in range(2)]
    assert usages[1]
    assert usages[1].prompt > usages[1].cached > usages[1].prompt / 2


async def test_engine_refuses_what_is_too_long_and_tells_the_window(target: Target) -> None:
    with pytest.raises(RequestTooLong) as refused:
        await complete(target, [{"role": "user", "content": "word " * 3000}])
    assert refused.value.window == ENGINE_CONTEXT


async def test_engine_stops_writing_when_the_stream_is_left(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.OFFERED, "ignore_eos", bool)
    async with aclosing(stream_chat(target, STORY, params={"ignore_eos": True})) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    # Its one slot is free at once: until the window was full, the story would take half a minute.
    started = time.monotonic()
    await complete(target, STORY, max_tokens=1)
    assert time.monotonic() - started < 15


async def test_engine_answers_one_call_after_the_other_and_two_at_once(target: Target) -> None:
    """It closes a kept connection after a stream."""
    for _ in range(3):
        assert (await complete(target, STORY, max_tokens=2)).finish_reason == "length"
    both = await asyncio.gather(*(complete(target, STORY, max_tokens=2) for _ in range(2)))
    assert [completion.finish_reason for completion in both] == ["length", "length"]
