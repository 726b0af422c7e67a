from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.budget import Limits, measure
from compaction.planning import Accepted, Plan, Refusal, accept, folded, plan
from compaction.policies import fresh_boundary, window_request, windowed
from compaction.request import RequestMessage, assemble
from compaction.tokens import estimate_request
from compaction.transcript import Message, Status, Transcript
from tests.compaction.talk import LIMITS, chat, random_chat, turns, user, words
from tests.compaction.test_planning import WIDE

# A chat that was begun afresh: archived messages, and no summary of them.
FRESH = replace(chat(*turns(2)), archived_count=8)


def test_j4_the_newest_turns_that_fit_are_sent() -> None:
    transcript = chat(*turns(20), user("so"))
    request = window_request(transcript, LIMITS)
    assert estimate_request(request) <= 875
    assert request == assemble(replace(transcript, messages=transcript.messages[-len(request) :]))


def test_j4_one_turn_more_would_not_fit() -> None:
    transcript = chat(*turns(20), user("so"))
    dropped = len(windowed(transcript, LIMITS).dropped)
    one_more = replace(transcript, messages=transcript.messages[dropped - 2 :])
    assert estimate_request(assemble(one_more)) > 875


def test_j4_what_is_left_out_is_told_and_nothing_is_summarised() -> None:
    transcript = chat(*turns(20), user("so"), system="Be brief.")
    found = windowed(transcript, LIMITS)
    assert found.dropped == tuple(message.id for message in transcript.messages[: len(found.dropped)])
    assert found.transcript.summary == ""
    assert window_request(transcript, LIMITS)[0] == RequestMessage("system", "Be brief.")


@pytest.mark.parametrize("limits", [replace(LIMITS, window=0), replace(LIMITS, window=100_000)])
def test_j4_everything_is_sent_where_it_fits_or_the_window_is_unknown(limits: Limits) -> None:
    transcript = chat(*turns(20), user("so"))
    assert window_request(transcript, limits) == assemble(transcript)


def test_j4_the_learned_ratio_counts() -> None:
    transcript = chat(*turns(20), user("so"))
    dense = window_request(transcript, replace(LIMITS, ratio=2.0))
    assert estimate_request(dense) * 2 <= 875
    assert len(dense) < len(window_request(transcript, LIMITS))


def test_j4_room_is_left_for_the_longest_recent_reply_but_half_of_the_window_is_used() -> None:
    transcript = chat(*turns(20), user("so"))
    sizes = [
        estimate_request(window_request(transcript, replace(LIMITS, headroom=headroom))) for headroom in (0, 400, 990)
    ]
    assert sizes[0] > sizes[1]
    assert sizes[1] <= 600
    assert 200 < sizes[2] <= 500


def test_j4_the_last_turn_stays_even_where_it_alone_is_too_long() -> None:
    assert window_request(chat(*turns(3), user(words(2_000))), LIMITS) == (RequestMessage("user", words(2_000)),)


def test_j4_the_meter_of_a_bounded_request_is_what_is_sent() -> None:
    transcript = chat(*turns(20), user("so"))
    assert measure(windowed(transcript, LIMITS).transcript, LIMITS).used == pytest.approx(
        estimate_request(window_request(transcript, LIMITS)), abs=4
    )


@settings(deadline=None)
@given(random_chat(), st.sampled_from([200, 500, 2_000]))
def test_j4_the_request_begins_with_a_user_message_and_ends_as_ever(transcript: Transcript, window: int) -> None:
    whole, bounded = assemble(transcript), window_request(transcript, replace(LIMITS, window=window))
    turns_ = [message for message in bounded if message.role != "system"]
    assert not turns_ or turns_[0].role == "user"
    assert bounded[-1:] == whole[-1:]


def test_j5_the_boundary_is_the_message_before() -> None:
    messages = chat(*turns(3), user("so")).messages
    assert fresh_boundary(messages, messages[4].id) == messages[3]
    assert fresh_boundary(messages, messages[6].id) == messages[5]


@pytest.mark.parametrize(("index", "code"), [(0, "nothing_before"), (1, "not_a_turn"), (7, "not_a_turn")])
def test_j5_only_at_a_user_message_up_to_the_first_unanswered(index: int, code: str) -> None:
    messages = chat(*turns(3), user("so"), user("wait", status=Status.QUEUED)).messages
    assert fresh_boundary(messages, messages[index].id) == Refusal(code)


def test_j5_an_unknown_message_is_refused() -> None:
    assert fresh_boundary(chat(*turns(3)).messages, 7) == Refusal("unknown_message")


def test_j5_without_a_summary_there_is_no_record_in_the_request() -> None:
    assert [message.role for message in assemble(FRESH)] == ["user", "assistant"] * 2
    assert measure(FRESH, LIMITS).summary == 0


def test_j5_nothing_is_new_until_a_reply_is_written_after_it() -> None:
    kept = tuple(replace(message, made_after_boundary=False) for message in FRESH.messages)
    assert plan(replace(FRESH, messages=kept), WIDE) == Refusal("nothing_new")


def test_j5_a_chat_begun_afresh_can_be_compacted_later() -> None:
    grown = replace(chat(*turns(10)), archived_count=8)
    found = plan(grown, WIDE, keeps_summary=True)
    assert isinstance(found, Plan)
    assert isinstance(accept(found, grown, "They talked.", WIDE), Accepted)
    assert folded(found, grown, "They talked.").archived_count == 8 + len(found.archived)


def test_j5_pins_stay_although_there_is_no_summary() -> None:
    kept: Message = replace(user("450 euros at most"), id=3)
    assert assemble(replace(FRESH, pinned=(kept,)))[0] == RequestMessage("user", "450 euros at most")
