"""How long a model thought: from the first word of its reasoning to the last, measured where the stream is read."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from chatapp.archives import chat_json
from chatapp.archives.checking import check_chat
from chatapp.history.candidates import import_chat
from chatapp.llm.deltas import Event, ReasoningDelta, TextDelta, TextWasReasoning
from chatapp.models import Message
from chatapp.runs.live import LiveRun
from tests.factories import make_chat, make_user
from tests.people import signed_in
from tests.scripted import reply
from tests.visiting import Visitor, last_message


def heard(*events: tuple[float, Event], continued: Message | None = None) -> LiveRun:
    """A run to which these came, each at its second."""
    times = iter([at for at, _ in events])
    live = LiveRun(1, 1, uuid4(), 1, 1, continued, clock=lambda: next(times))
    for _, event in events:
        live.take(event)
    return live


@pytest.mark.parametrize(
    ("events", "milliseconds"),
    [
        ([(5, TextDelta("Yes"))], None),
        ([(5, ReasoningDelta("So"))], 0),
        ([(5, ReasoningDelta("So")), (17.5, ReasoningDelta("then")), (30, TextDelta("Yes"))], 12_500),
        ([(5, TextDelta("So")), (9, TextDelta("then")), (11, TextWasReasoning()), (20, TextDelta("Yes"))], 6_000),
    ],
)
def test_time_is_that_of_the_reasoning_alone(events: list[tuple[float, Event]], milliseconds: int | None) -> None:
    assert heard(*events).reasoning_milliseconds == milliseconds


def test_what_is_withdrawn_is_not_counted() -> None:
    live = heard((5, ReasoningDelta("So")), (9, ReasoningDelta("then")))

    live.begin_afresh()

    assert live.reasoning_milliseconds is None


def test_a_reply_that_goes_on_keeps_the_time_it_had() -> None:
    former = Message(reasoning="So", reasoning_milliseconds=2_000)

    assert heard((5, TextDelta("More")), continued=former).reasoning_milliseconds == 2_000
    assert (
        heard((5, ReasoningDelta("And")), (6, ReasoningDelta("so")), continued=former).reasoning_milliseconds == 3_000
    )


def test_frame_tells_the_time_once_the_reply_begins() -> None:
    thinking = heard((5, ReasoningDelta("So")), (17, ReasoningDelta("then")))
    writing = heard((5, ReasoningDelta("So")), (17, ReasoningDelta("then")), (18, TextDelta("Yes")))

    assert "data-thought" not in thinking.next_frame().html
    assert 'data-thought="12"' in writing.next_frame().html


async def test_time_is_stored_with_the_reply_and_shown_on_its_page(alice: Visitor) -> None:
    alice.endpoint.will(reply("Four.", thoughts="Two and two, so"))
    chat = await alice.start("What is two and two?")
    again = await alice.say(chat, "Sure?")

    summary = (await alice.page(chat)).partition('class="reasoning"')[2].partition("</summary>")[0]
    assert summary.rpartition(">")[2].strip() == "Thought for a moment"
    assert (await last_message(chat)).reasoning_milliseconds is None
    assert again.reasoning == ""


@pytest.mark.django_db
@pytest.mark.parametrize(("milliseconds", "words"), [(None, "Reasoning"), (900, "a moment"), (72_400, "72 s")])
def test_time_survives_export_and_import(milliseconds: int | None, words: str) -> None:
    chat = make_chat(None, "Hello", "Hi.")
    chat.messages.filter(position=1).update(reasoning="Let me see.", reasoning_milliseconds=milliseconds)
    raw = json.loads("".join(chat_json(chat.pk)))

    copy = import_chat(check_chat(raw, owner_id=make_user().pk, usable={}), key="k")

    assert copy is not None
    assert copy.messages.get(position=1).reasoning_milliseconds == milliseconds
    page = signed_in(copy.owner).get(copy.get_absolute_url()).content.decode()
    assert words in page.partition('class="reasoning"')[2].partition("</summary>")[0].rpartition(">")[2]


@pytest.mark.django_db
def test_a_file_written_before_times_were_kept_comes_in() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    raw = json.loads("".join(chat_json(chat.pk)))
    for message in raw["messages"]:
        del message["reasoning_milliseconds"]

    assert check_chat(raw, owner_id=chat.owner_id, usable={}).messages[2].reasoning_milliseconds is None
