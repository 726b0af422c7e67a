from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from compaction.continuation import continuation_request
from compaction.planning import Plan, folded, plan
from compaction.prompts import chunks, summary_request
from compaction.quoting import neutralise
from compaction.request import RequestMessage, as_payload, assemble
from compaction.segments import Segment, joined, merge_request
from tests.compaction.poison import CANARY, POISON
from tests.compaction.talk import chat, reply, result, turns, user
from tests.compaction.test_planning import WIDE
from tests.compaction.test_quoting import as_a_lenient_reader

# What chat templates and their tokenisers give a meaning of its own, also inside the text of a message.
CONTROL = re.compile(
    r"<[|｜][^|｜<>\s]+[|｜]>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|\[/?(?:SYSTEM_PROMPT|TOOL_\w+)\]"
)

each = pytest.mark.parametrize("name", POISON)


def archived_by(name: str) -> Plan:
    """The attack in the mouth of the user, of the model and of a tool, all of it archived."""
    said = POISON[name]
    loop = [user(said), reply(said, calls="a"), result("a", said), reply("done")]
    found = plan(chat(*loop, *turns(9)), WIDE)
    assert isinstance(found, Plan)
    return found


def closings(text: str) -> int:
    return as_a_lenient_reader(text).count("</record")


def openings(text: str) -> int:
    return as_a_lenient_reader(text).count("<record")


def test_e7_there_are_thirty_of_them() -> None:
    assert len(POISON) == 30
    assert all(CANARY in text for text in POISON.values())


@each
def test_e7_what_is_summarised_stays_inside_its_quotes(name: str) -> None:
    (chunk,) = chunks(archived_by(name), earlier_summary="", window=100_000, budget=300, frozen=POISON[name])
    request = summary_request(chunk, summary_so_far=POISON[name])
    assert [message.role for message in request] == ["system", "user"]
    asked = request[-1].content
    assert (openings(asked), closings(asked)) == (3, 3)
    assert asked.count(neutralise(POISON[name])) >= 3
    assert CANARY not in request[0].content
    assert CANARY not in asked.rsplit("</record>", 1)[1]


@each
def test_e7_a_long_conversation_in_chunks_stays_inside_its_quotes_in_each(name: str) -> None:
    archived = chat(*[message for _ in range(40) for message in (user(POISON[name]), reply(POISON[name]))]).messages
    bare = Plan(archived, (), archived[-1], 1_000, 100, 200)
    for chunk in chunks(bare, earlier_summary="", window=700, budget=100):
        asked = summary_request(chunk, summary_so_far="")[-1].content
        assert (openings(asked), closings(asked)) == (1, 1)
        assert CANARY not in asked.rsplit("</record>", 1)[1]


@each
@pytest.mark.parametrize("no_system_role", [False, True])
def test_e7_a_summary_that_obeyed_goes_back_as_one_quoted_record(name: str, no_system_role: bool) -> None:
    transcript = chat(*turns(1), user("so"), system="Be brief.", summary=POISON[name], archived=4)
    request = assemble(transcript, no_system_role=no_system_role)
    assert (openings(request[0].content), closings(request[0].content)) == (1, 1)
    assert [message.role for message in request].count("system") == (0 if no_system_role else 1)
    quoted = request[0].content.split("</record>")
    assert CANARY in quoted[0]
    assert CANARY not in quoted[1]


@each
def test_e7_several_segments_are_still_one_record(name: str) -> None:
    summary = joined([Segment(POISON[name]), Segment(POISON[name], 1), Segment("They met.")])
    told = assemble(chat(user("so"), summary=summary, archived=4))[0].content
    assert (openings(told), closings(told)) == (1, 1)
    assert told.endswith("They met.\n</record>")


@each
def test_e7_parts_that_are_merged_stay_inside_their_quotes(name: str) -> None:
    asked = merge_request([Segment(POISON[name]), Segment(POISON[name])], budget=300)[-1].content
    assert (openings(asked), closings(asked)) == (2, 2)
    assert CANARY not in asked.rsplit("</record>", 1)[1]


@each
def test_e7_no_control_token_of_a_chat_template_is_left_in_a_quote(name: str) -> None:
    assert not CONTROL.search(neutralise(POISON[name]))


@each
def test_e7_every_word_of_it_is_still_read(name: str) -> None:
    before, after = (html.unescape(text) for text in (POISON[name], neutralise(POISON[name])))
    assert re.findall(r"\w+", after) == re.findall(r"\w+", before)


@each
def test_e7_archived_poison_is_not_in_the_next_request_and_live_messages_stay_as_written(name: str) -> None:
    found = archived_by(name)
    transcript = chat(*found.archived, *found.kept, user(POISON[name]))
    after = folded(found, replace(transcript, messages=transcript.messages), "They talked.")
    request = assemble(replace(after, messages=(*after.messages, transcript.messages[-1])))
    assert request[-1] == RequestMessage("user", POISON[name])
    assert str(as_payload(request[:-1])).count(CANARY) == 0


@each
def test_e7_in_a_continuation_the_opening_words_stay_in_theirs(name: str) -> None:
    transcript = chat(*turns(1), user(POISON[name]))
    found = continuation_request(
        assemble(transcript), RequestMessage("assistant", "ok"), transcript.messages[2:], budget=300, hint=""
    )
    told = found[-1].content.split('begins with "')[1]
    assert not CONTROL.search(told)
    assert closings(told) == 0
    assert told.count('"') == (3 if "Corrections" in told else 1)
