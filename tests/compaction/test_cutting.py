from __future__ import annotations

import pytest
from hypothesis import given

from compaction.cutting import choose_cut, safe_cuts, step_cuts, tail_sizes
from compaction.tokens import estimate_message
from compaction.transcript import Message, Status, Transcript, first_unanswered, last_complete_turn
from tests.compaction.talk import chat, random_chat, reply, result, turns, user


def chosen(messages: tuple[Message, ...], percent: int) -> int | None:
    tails = tail_sizes([estimate_message(message) for message in messages])
    return choose_cut(messages, tails, tail_tokens=tails[0] * percent / 100)


def test_c1_the_live_part_starts_on_a_user_message() -> None:
    loop = [reply("", calls="a"), result("a"), reply("done")]
    assert safe_cuts(chat(*turns(1), user("look"), *loop, *turns(1)).messages) == (2, 6)


def test_c1_inside_a_loop_only_between_whole_steps() -> None:
    steps = [reply("", calls="ab"), result("b"), result("a"), reply("", calls="c"), result("c"), reply("done")]
    assert step_cuts(chat(*turns(1), user("look"), *steps).messages) == (6, 8)


def test_c1_no_cut_behind_a_step_that_lacks_a_result() -> None:
    steps = [reply("", calls="ab"), result("a"), reply("", calls="c"), result("c"), reply("done")]
    assert step_cuts(chat(user("look"), *steps).messages) == (5,)


def test_c2_boundary_lies_before_first_unanswered() -> None:
    messages = chat(*turns(2), user("one"), user("two"), reply("both")).messages
    assert first_unanswered(messages) == 4
    assert safe_cuts(messages) == (2, 4)


@pytest.mark.parametrize("status", [Status.QUEUED, Status.STREAMING])
def test_c2_waiting_replies_keep_their_turn_live(status: Status) -> None:
    messages = chat(*turns(1), user("one"), reply("half", status=status), *turns(1)).messages
    assert safe_cuts(messages) == (2,)


def test_c2_a_queued_message_is_live() -> None:
    assert first_unanswered(chat(*turns(1), user("wait", status=Status.QUEUED)).messages) == 2


def test_c2_an_empty_failed_reply_leaves_the_last_turn_unanswered() -> None:
    assert first_unanswered(chat(*turns(1), user("one"), reply("", status=Status.FAILED)).messages) == 2


def test_c2_an_empty_failed_reply_further_back_does_not_stop_compaction_for_ever() -> None:
    messages = chat(user("one"), reply("", status=Status.FAILED), *turns(2)).messages
    assert first_unanswered(messages) == len(messages)


def test_c2_a_loop_in_progress_is_unanswered() -> None:
    assert first_unanswered(chat(*turns(1), user("look"), reply("", calls="a"), result("a")).messages) == 2


@pytest.mark.parametrize(("percent", "cut"), [(30, 14), (60, 8), (10, 18), (0, 18), (29, 16)])
def test_c3_the_tail_is_a_percentage_of_the_live_tokens(percent: int, cut: int) -> None:
    assert chosen(chat(*turns(10)).messages, percent) == cut


def test_c3_the_last_complete_turn_stays_before_an_unanswered_message() -> None:
    assert chosen(chat(*turns(3), user("shorter")).messages, 0) == 4


def test_c3_a_huge_last_turn_stays_too() -> None:
    assert chosen(chat(*turns(3), *turns(1, size=4_000)).messages, 30) == 6


def test_c3_a_failed_empty_turn_is_no_complete_one() -> None:
    messages = chat(*turns(3), user("one"), reply("", status=Status.FAILED), user("two")).messages
    assert last_complete_turn(messages) == 4


def test_c3_a_chat_of_one_turn_has_no_cut() -> None:
    assert chosen(chat(*turns(1)).messages, 30) is None


@given(random_chat())
def test_c1_no_cut_parts_a_call_from_its_results(transcript: Transcript) -> None:
    messages = transcript.messages
    for cut in (*safe_cuts(messages), *step_cuts(messages)):
        called = {call.id for message in messages[cut:] for call in message.tool_calls}
        before_next_reply = [message for message in messages[cut:] if message.role == "tool"]
        assert messages[cut].role != "tool"
        assert {message.tool_call_id for message in before_next_reply} <= called


@given(random_chat())
def test_c2_everything_unanswered_or_waiting_is_behind_every_cut(transcript: Transcript) -> None:
    messages = transcript.messages
    for cut in safe_cuts(messages):
        assert cut <= first_unanswered(messages)
        assert not any(message.is_waiting for message in messages[:cut])
