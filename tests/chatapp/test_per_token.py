"""What a token costs, in counts: none may grow with the length of the reply, the pages that watch, or the chat."""

from __future__ import annotations

import asyncio
import json
import time
from uuid import uuid4

import pytest

from chatapp.database import in_database
from chatapp.history import turns
from chatapp.llm import Gathered, network
from chatapp.llm.deltas import ReasoningDelta, TextDelta
from chatapp.llm.reading import ReplyReader
from chatapp.models import Chat, Message
from chatapp.runs.live import LiveRun
from tests.counting import elements, python_calls
from tests.factories import make_chat
from tests.scripted import reply_tokens
from tests.visiting import Socket, Visitor, settled

WORDS = ["so", "the", "**tide**", "is", "in", ",", "`low`", "and", "all", "was", "dry", ".", "We", "saw"]
TOKENS_A_FRAME = 10
# What was measured, and a tenth.
STEPS_TO_READ, STEPS_TO_SHOW, BYTES_OF_A_TOKEN, BYTES_IN_ONE_BLOCK, ELEMENTS_OF_A_PAGE = 55, 125, 57, 300, 3_000
OPENINGS = {
    "paragraph": ("", " "),
    "code": ("```python\n", "\n"),
    "list": ("- ", "\n- "),
    "table": ("| a |\n|---|\n| ", " |\n| "),
}


def word(number: int, shape: str = "") -> str:
    """The reply's token: in short paragraphs, or in one block without an end."""
    beginning, line_end = OPENINGS.get(shape, ("", "\n\n"))
    is_last = number % 40 == 39 if not shape else number % 12 == 11
    return ("" if number else beginning) + WORDS[number % len(WORDS)] + (line_end if is_last else " ")


def a_run() -> LiveRun:
    return LiveRun(1, 1, uuid4(), 1, 1)


def frames_of(live: LiveRun, first: int, until: int, shape: str = "") -> list[str]:
    """What ten frames a second would be at a hundred tokens a second."""
    frames = []
    for number in range(first, until):
        live.take(TextDelta(word(number, shape)))
        if number % TOKENS_A_FRAME == TOKENS_A_FRAME - 1 and (frame := live.next_frame()):
            frames.append(frame.html)
    return frames


def test_reading_a_token_takes_as_many_steps_at_the_end_of_a_long_reply_as_at_its_beginning() -> None:
    reader, live = ReplyReader(), a_run()

    def read(first: int, until: int) -> None:
        for number in range(first, until):
            chunk = {"choices": [{"index": 0, "delta": {"content": word(number)}, "finish_reason": None}]}
            for event in reader.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n"):
                live.take(event)

    read(0, 1_000)
    early = python_calls(lambda: read(1_000, 2_000))
    read(2_000, 20_000)
    late = python_calls(lambda: read(20_000, 21_000))

    assert late < 1.02 * early
    assert early / 1_000 < STEPS_TO_READ


def test_showing_a_token_takes_as_many_steps_and_bytes_at_the_end_of_a_long_reply_as_at_its_beginning() -> None:
    live = a_run()
    frames: list[str] = []

    def show(first: int, until: int) -> int:
        frames.clear()
        return python_calls(lambda: frames.extend(frames_of(live, first, until)))

    frames_of(live, 0, 1_000)
    early, early_bytes = show(1_000, 2_000), sum(map(len, frames))
    frames_of(live, 2_000, 20_000)
    late, late_bytes = show(20_000, 21_000), sum(map(len, frames))

    assert late < 1.05 * early
    assert late_bytes < 1.05 * early_bytes
    assert early_bytes / 1_000 < BYTES_OF_A_TOKEN
    assert early / 1_000 < STEPS_TO_SHOW


@pytest.mark.parametrize("shape", OPENINGS)
def test_bytes_of_a_token_are_bounded_in_a_block_that_never_ends(shape: str) -> None:
    live = a_run()

    def bytes_of(first: int, until: int) -> int:
        return sum(map(len, frames_of(live, first, until, shape)))

    bytes_of(0, 1_000)
    middle = bytes_of(1_000, 2_000) / 1_000
    late = bytes_of(2_000, 4_000) / 2_000

    assert late < 1.3 * middle
    assert late < BYTES_IN_ONE_BLOCK


def test_frame_that_would_say_nothing_new_is_not_made() -> None:
    live = a_run()
    live.take(TextDelta("word " * 2_000))
    assert live.next_frame() is not None

    live.take(TextDelta("more "))

    assert live.next_frame() is None


def test_end_of_the_text_that_is_as_it_was_is_not_sent_again_with_a_finished_thought() -> None:
    live = a_run()
    live.take(ReasoningDelta("word " * 2_000))
    live.next_frame()
    live.take(TextDelta("Yes"))

    frame = live.next_frame()

    assert frame is not None
    assert "data-thought" in frame.html
    assert "data-reasoning-blocks" in frame.html
    assert "data-reasoning-tail" not in frame.html


def test_text_of_many_tokens_is_joined_of_few_pieces() -> None:
    gathered = Gathered()
    for number in range(5_000):
        gathered.take(TextDelta(word(number)))

    assert gathered.text == "".join(map(word, range(5_000)))
    assert len(gathered._text) < 600


async def test_watchers_share_frames_and_tokens_are_read_and_stored_together(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred tokens a second for three seconds, which two pages watch."""
    counts = dict.fromkeys(("reads", "rendered", "saves"), 0)

    def count(owner: object, name: str, what: str) -> None:
        real = getattr(owner, name)

        def counting(*args: object, **kwargs: object) -> object:
            counts[what] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    count(network.CheckedStream, "read", "reads")
    count(LiveRun, "next_frame", "rendered")
    count(turns, "save_partial", "saves")
    alice.endpoint.will(reply_tokens([word(number) for number in range(300)], delay=0.01))
    began = time.monotonic()
    chat = await alice.start("Tell me")
    async with alice.socket(chat) as one, alice.socket(chat) as two:
        shown, shown_too = await asyncio.gather(frames_until_end(one), frames_until_end(two))
        await settled(chat)
    seconds = time.monotonic() - began

    assert counts["reads"] < 80 + 12 * seconds, "each token of the first half second, then once a frame"
    assert counts["rendered"] <= 10 * seconds + 2, "at most ten frames a second, however many watch"
    assert len(shown) <= counts["rendered"]
    assert shown[-5:] == shown_too[-5:]
    assert counts["saves"] <= seconds + 1


async def frames_until_end(socket: Socket) -> list[str]:
    frames = []
    while "Regenerate" not in (html := await socket.next()):
        frames += [html] if "data-frame" in html else []
    return frames


async def test_page_of_two_thousand_messages_has_no_more_elements_than_one_of_sixty(alice: Visitor) -> None:
    def talk(length: int) -> Chat:
        chat = make_chat(alice.user)
        roles = (Message.Role.USER, Message.Role.ASSISTANT)
        Message.objects.bulk_create(
            Message(chat=chat, position=at, role=roles[at % 2], content=f"{at}: *bread*") for at in range(length)
        )
        return chat

    few, many = [elements(await alice.page(await in_database(talk, length))) for length in (60, 2_000)]

    assert many <= few + 20
    assert many < ELEMENTS_OF_A_PAGE
