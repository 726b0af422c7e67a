"""Events: straight to the listeners of this process, and never in the way of a task's end."""

import asyncio
from uuid import uuid4

import pytest

from chatapp import events


async def test_event_reaches_every_listener_of_its_chat_and_no_other() -> None:
    chat, other = uuid4(), uuid4()
    heard: list[str] = []
    ends = [
        events.subscribe(chat, lambda _: heard.append("one")),
        events.subscribe(chat, lambda _: heard.append("two")),
        events.subscribe(other, lambda _: heard.append("other")),
    ]

    events.tell_here(chat, events.Changed())
    for end in ends:
        end()
    events.tell_here(chat, events.Changed())

    assert sorted(heard) == ["one", "two"]


async def test_cancellation_that_the_layer_swallows_still_ends_the_task(settings) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.layers.SwallowingLayer"}}
    publishing = asyncio.create_task(events.publish(uuid4(), events.Changed()))
    await asyncio.sleep(0)

    publishing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await publishing
