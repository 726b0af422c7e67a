from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from compaction.request import BROKEN_OFF_MARK, RequestMessage, as_payload, assemble, record_text
from compaction.transcript import Status, Transcript, first_unanswered
from tests.compaction.talk import chat, numbered, pinned, random_chat, reply, result, turns, user


def roles(transcript: Transcript) -> list[str]:
    return [message.role for message in assemble(transcript)]


def test_g1_the_system_prompt_comes_first_byte_for_byte_then_the_record() -> None:
    system = assemble(chat(user("hi"), system="Be <b>brief</b>.\n \n", summary="They met.", archived=2))[0]
    assert system.role == "system"
    assert system.content == "Be <b>brief</b>.\n \n\n\n" + record_text("They met.")


def test_g1_without_a_system_prompt_the_record_stands_alone() -> None:
    assert assemble(chat(user("hi"), summary="They met.", archived=2))[0].content == record_text("They met.")


def test_g1_with_neither_there_is_no_system_message() -> None:
    assert roles(chat(user("hi"))) == ["user"]


def test_g1_without_a_system_role_both_stand_before_the_first_user_message() -> None:
    transcript = chat(user("hi"), reply("hello"), user("so"), system="Be brief.", summary="They met.", archived=2)
    first, *rest = assemble(transcript, no_system_role=True)
    assert first == RequestMessage("user", f"Be brief.\n\n{record_text('They met.')}\n\nhi")
    assert [message.role for message in rest] == ["assistant", "user"]


def test_g1_ten_compactions_leave_one_record() -> None:
    told = assemble(chat(user("hi"), summary=record_text(record_text("They met.")), archived=20))[0].content
    assert told.count("<record") == told.count("</record>") == 1


def test_g2_neighbours_of_the_same_role_are_joined() -> None:
    request = assemble(chat(user("one"), reply("", status=Status.FAILED), user("two")))
    assert request == (RequestMessage("user", "one\n\ntwo"),)


def test_g2_a_chat_that_opens_with_the_assistant_still_starts_with_a_user_message() -> None:
    assert roles(chat(reply("Welcome"), user("hi"))) == ["user", "assistant", "user"]


def test_g2_a_result_without_its_call_is_left_out() -> None:
    assert roles(chat(user("look"), result("a"), reply("done"))) == ["user", "assistant"]


def test_g2_a_call_without_its_result_is_left_out() -> None:
    request = assemble(chat(user("look"), reply("let me see", calls="ab"), result("b"), reply("done")))
    assert [call.id for call in request[1].tool_calls] == ["b"]


def test_g2_an_empty_result_stays_with_its_call() -> None:
    assert roles(chat(user("look"), reply("", calls="a"), result("a", ""))) == ["user", "assistant", "tool"]


def test_g2_the_same_call_id_in_two_steps_keeps_each_result_in_its_step() -> None:
    steps = [reply("", calls="a"), result("a", "first"), reply("", calls="a"), result("a", "second")]
    request = assemble(chat(user("look"), *steps))
    assert [message.content for message in request if message.role == "tool"] == ["first", "second"]


def test_g2_a_loop_that_was_left_is_closed_before_the_next_user_message() -> None:
    request = assemble(chat(user("look"), reply("", calls="a"), result("a"), user("never mind")))
    assert [message.role for message in request] == ["user", "assistant", "tool", "assistant", "user"]


def test_g2_of_two_queued_messages_only_the_first_is_sent() -> None:
    waiting = [user("one", status=Status.QUEUED), user("two", status=Status.QUEUED)]
    assert assemble(chat(*turns(1), *waiting))[-1] == RequestMessage("user", "one")


def test_g2_a_message_queued_behind_an_unanswered_one_is_not_sent() -> None:
    assert assemble(chat(user("one"), user("two", status=Status.QUEUED))) == (RequestMessage("user", "one"),)


def test_g3_the_request_only_grows_at_its_end() -> None:
    before = as_payload(assemble(chat(*turns(3), user("next"), system="Be brief.")))
    after = as_payload(assemble(chat(*turns(3), user("next"), reply("yes"), user("and"), system="Be brief.")))
    assert after[: len(before)] == before


def test_g4_a_reply_that_is_being_written_is_not_in_the_request() -> None:
    assert roles(chat(user("hi"), reply("half a", status=Status.STREAMING))) == ["user"]


def test_c7_the_partial_text_of_a_failed_reply_is_marked() -> None:
    request = assemble(chat(user("hi"), reply("half a", status=Status.FAILED), user("go on")))
    assert request[1].content == f"half a\n\n{BROKEN_OFF_MARK}"


def test_c1_a_tail_inside_a_loop_follows_the_request_of_its_turn() -> None:
    transcript = chat(reply("", calls="b"), result("b"), summary="Looked at a.", archived=3, resent=user("look"))
    assert roles(transcript) == ["system", "user", "assistant", "tool"]
    assert assemble(transcript)[1].content == "look"


def test_payload_is_what_chat_completions_reads() -> None:
    payload = as_payload(assemble(chat(user("look"), reply("", calls="a"), result("a", "found"))))
    assert json.dumps(payload) == (
        '[{"role": "user", "content": "look"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "a", '
        '"type": "function", "function": {"name": "look_up", "arguments": "{\\"q\\": \\"a\\"}"}}]}, '
        '{"role": "tool", "content": "found", "tool_call_id": "a"}]'
    )


@given(random_chat())
def test_g1_at_most_one_system_message_and_it_is_first(transcript: Transcript) -> None:
    assert "system" not in roles(transcript)[1:]


@given(random_chat(), st.booleans(), st.booleans())
def test_k4_the_pieces_of_a_message_joined_are_its_content_byte_for_byte(
    transcript: Transcript, no_system_role: bool, has_pins: bool
) -> None:
    if has_pins:
        messages = tuple(replace(each, is_pinned=each.role == "user") for each in transcript.messages)
        transcript = replace(transcript, messages=messages, pinned=numbered(user("kept"), user("kept"), reply("so")))
    for message in assemble(transcript, no_system_role=no_system_role):
        assert "".join(piece.text for piece in message.pieces) == message.content


def test_c6_two_messages_of_the_same_words_are_told_apart_by_which_is_pinned() -> None:
    transcript = chat(user("the same"), reply("so"), pinned(user("the same")), reply("so"), user("now"))

    kinds = [(piece.kind, piece.message_id) for message in assemble(transcript) for piece in message.pieces]

    assert kinds == [("live", 100), ("live", 101), ("pinned", 102), ("live", 103), ("live", 104)]


@given(random_chat())
def test_g2_roles_alternate_and_every_result_has_its_call(transcript: Transcript) -> None:
    turn = [message for message in assemble(transcript) if message.role != "system"]
    assert not turn or turn[0].role == "user"
    owed: list[str] = []
    for before, message in zip([None, *turn], turn, strict=False):
        if message.role == "tool":
            owed.remove(message.tool_call_id)
            continue
        assert not owed
        assert before is None or before.role != message.role
        assert message.role == "assistant" or before is None or before.role == "assistant"
        owed = [call.id for call in message.tool_calls]
    assert not owed


@given(random_chat())
def test_g2_the_last_message_is_the_unanswered_one(transcript: Transcript) -> None:
    index = first_unanswered(transcript.messages)
    in_loop = any(message.role == "tool" for message in transcript.messages[index:])
    if index < len(transcript.messages) and not in_loop:
        last = assemble(transcript)[-1]
        assert last.role == "user"
        assert last.content.endswith(transcript.messages[index].content)
