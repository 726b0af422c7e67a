"""Wake-ups and frames, from whoever writes to whoever shows; at most once, repaired by the next snapshot.

In one process they go straight from the run to its listeners. The channel layer carries them between processes only.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import asdict, dataclass, fields
from typing import Any
from uuid import UUID

from channels.layers import InMemoryChannelLayer, get_channel_layer
from redis.exceptions import RedisError

from chatapp.leases import PROCESS

log = logging.getLogger("foldline.events")

FIRST_WORD = "first_word"
# The layer can't be reached.
LAYER_AWAY = (OSError, RedisError)
SECONDS_TO_SEND = 2
SECONDS_BETWEEN_BEATS = 5


@dataclass(frozen=True, slots=True)
class Changed:
    """The chat has a newer revision; read it."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A piece of a reply being written, as HTML. `whole` frames hold all of it so far and repair any gap.

    `waiting`: why nothing comes yet, a code, and after how many seconds it is tried again; for FIRST_WORD, minus the
    seconds that it has been waited for.
    """

    message_id: int
    html: str
    whole: bool = False
    waiting: str = ""
    waiting_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A person's list of chats is another; fetch it."""


@dataclass(frozen=True, slots=True)
class SignedOut:
    """What the socket was opened with no longer holds; told within a process only."""


Event = Changed | Framed | Listed | SignedOut
Listener = Callable[[Event], None]
# What one listens to: a chat by its id, by a person's all that concerns their list of chats, a pass by itself.
Topic = Hashable

_listeners: dict[Topic, set[Listener]] = defaultdict(set)
_loop: asyncio.AbstractEventLoop | None = None


def use_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Every listener lives on this loop; views in worker threads reach it by `wake`."""
    global _loop  # noqa: PLW0603 (one loop a process, known only once it runs)
    _loop = loop


def group_of(topic: Topic) -> str:
    return f"chat.{topic.hex}" if isinstance(topic, UUID) else f"person.{topic}"


def is_shared() -> bool:
    """Whether other processes may listen: only then is the layer asked."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


def subscribe(topic: Topic, listener: Listener) -> Callable[[], None]:
    """Call `listener` on the loop at every event of the chat or of the person's list; the result ends it."""
    _listeners[topic].add(listener)

    def unsubscribe() -> None:
        _listeners[topic].discard(listener)
        if not _listeners[topic]:
            del _listeners[topic]

    return unsubscribe


def count_listeners(topic: Topic) -> int:
    """Of this process."""
    return len(_listeners.get(topic, ()))


def topics() -> list[Topic]:
    """All that anybody listens to in this process."""
    return list(_listeners)


def has_listeners(chat_id: UUID) -> bool:
    return is_shared() or chat_id in _listeners


def tell_here(topic: Topic, event: Event) -> None:
    """To the listeners of this process only; on the loop."""
    for listener in tuple(_listeners.get(topic, ())):
        listener(event)


async def publish(topic: Topic, event: Event) -> None:
    tell_here(topic, event)
    if is_shared():
        body: dict[str, Any] = {"origin": PROCESS}
        if isinstance(event, Framed):
            body |= asdict(event)
        elif isinstance(event, Listed):
            body["listed"] = True
        await _send_to_group(group_of(topic), {"type": "remote.event", **body})


async def publish_listed(chat_id: UUID, owner_id: int) -> None:
    """A change of the chat that its owner's list of chats shows, too: a run that begins or ends, a new title."""
    await publish(chat_id, Changed())
    await publish(owner_id, Listed())


def wake(chat_id: UUID) -> None:
    """`publish(Changed())` from a worker thread, once its transaction has ended."""
    _from_thread(publish(chat_id, Changed()))


def wake_list(owner_id: int) -> None:
    """`publish(Listed())` likewise."""
    _from_thread(publish(owner_id, Listed()))


def _from_thread(publishing: Coroutine[Any, Any, None]) -> None:
    if _loop is not None and _loop.is_running():
        asyncio.run_coroutine_threadsafe(publishing, _loop)
    else:
        publishing.close()


def read_remote(message: dict[str, Any]) -> Event | None:
    """The event in a layer message; None for our own, which went straight to the listeners."""
    if message["origin"] == PROCESS:
        return None
    if "html" in message:
        return Framed(**{field.name: message[field.name] for field in fields(Framed)})
    return Listed() if "listed" in message else Changed()


async def send_to_process(process: str, **message: Any) -> None:
    """A word to the process that owns a run: stop it, or show all of it."""
    if is_shared():
        await _send_to_group(_process_group(process), {"type": "process.word", **message})


async def hear_words(handle: Callable[[dict[str, Any]], None]) -> None:
    """Hand every word for this process to `handle`, until cancelled; returns at once where nobody can send any."""
    if not is_shared():
        return
    layer, heard = get_channel_layer(), asyncio.Event()
    beating = asyncio.ensure_future(_beat_for_ever(heard))
    try:
        while True:
            with contextlib.suppress(*LAYER_AWAY):
                channel = await layer.new_channel()
                await layer.group_add(_process_group(PROCESS), channel)
                while True:
                    message = await layer.receive(channel)
                    if message["word"] == "beat":
                        heard.set()
                    else:
                        handle(message)
            await asyncio.sleep(1)
    finally:
        beating.cancel()


async def _beat_for_ever(heard: asyncio.Event) -> None:
    """Send this process a word again and again: once one is heard after one was not, all here catch up.

    What was said while the layer was away, or while it had lost our subscriptions, is said by nobody again.
    """
    has_missed = False
    while True:
        heard.clear()
        await send_to_process(PROCESS, word="beat")
        try:
            async with asyncio.timeout(SECONDS_BETWEEN_BEATS):
                await heard.wait()
        except TimeoutError:
            if not has_missed:
                log.warning("The channel layer is away: what other processes write isn't heard.")
            has_missed = True
            continue
        if has_missed:
            log.info("The channel layer is there again.")
            has_missed = False
            for topic in tuple(_listeners):
                tell_here(topic, Changed() if isinstance(topic, UUID) else Listed())
        await asyncio.sleep(SECONDS_BETWEEN_BEATS)


def _process_group(process: str) -> str:
    return "process." + process.rsplit(":", 1)[-1]


async def _send_to_group(group: str, message: dict[str, Any]) -> None:
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):  # one that hangs must not hold up who writes
            await get_channel_layer().group_send(group, message)
    except Exception as error:  # noqa: BLE001 (the layer is only a wake-up: whatever it fails at, the next snapshot repairs)
        log.warning("The channel layer did not take an event: %s", type(error).__name__)
    # The Redis client may turn a cancellation into an error of its own, or lose it; the task would go on for ever.
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def check_layer(*, seconds: float = 2.0) -> str:
    """ "ok" when a message sent through the layer comes back, else what went wrong."""
    layer = get_channel_layer()
    try:
        async with asyncio.timeout(seconds):
            channel = await layer.new_channel()
            await layer.send(channel, {"type": "health.check"})
            await layer.receive(channel)
    except TimeoutError:
        return "does not answer"
    except LAYER_AWAY:
        return "can't be reached"
    return "ok"
