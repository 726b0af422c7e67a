from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.budget import Limits, measure
from compaction.planning import Accepted, Plan, Refusal, accept, folded, plan, summary_budget
from compaction.request import as_payload, assemble
from compaction.transcript import Message, Status, Transcript, Usage, first_unanswered
from tests.compaction.talk import LIMITS, chat, random_chat, reply, result, turns, user, words
from tests.timing import processor_seconds

WIDE = Limits(window=100_000, threshold_percent=85, tail_percent=30, summary_percent=5)


def planned(transcript: Transcript, limits: Limits = WIDE, *, up_to: int | None = None) -> Plan:
    found = plan(transcript, limits, up_to=up_to)
    assert isinstance(found, Plan), found
    return found


def refused(transcript: Transcript, limits: Limits = WIDE, *, up_to: int | None = None) -> str:
    found = plan(transcript, limits, up_to=up_to)
    assert isinstance(found, Refusal), found
    return found.code


def test_c3_three_of_ten_equal_turns_stay() -> None:
    found = planned(chat(*turns(10)))
    assert (len(found.archived), len(found.kept), found.through.position) == (14, 6, 13)


def test_b2_the_unanswered_message_and_the_last_complete_turn_stay() -> None:
    found = planned(chat(*turns(10, size=10), user(words(400, "long"))))
    assert [message.position for message in found.kept] == [18, 19, 20]


def test_c5_only_live_messages_are_planned_over() -> None:
    transcript = chat(*turns(6), summary="Earlier they met.", archived=8)
    found = planned(transcript)
    assert found.archived + found.kept == transcript.messages


def test_b6_up_to_a_chosen_message() -> None:
    transcript = chat(*turns(10))
    found = planned(transcript, up_to=transcript.messages[9].id)
    assert found.through.position == 9


def test_b6_up_to_a_user_message_stops_before_its_turn() -> None:
    transcript = chat(*turns(10))
    assert planned(transcript, up_to=transcript.messages[10].id).through.position == 9


def test_b6_up_to_the_end_still_keeps_the_last_complete_turn() -> None:
    transcript = chat(*turns(10))
    assert planned(transcript, up_to=transcript.messages[-1].id).through.position == 17


def test_b6_up_to_an_unknown_message_is_refused() -> None:
    assert refused(chat(*turns(10)), up_to=7) == "unknown_message"


@pytest.mark.parametrize("messages", [[], turns(2)])
def test_d5_nothing_new_since_the_boundary(messages: list[Message]) -> None:
    old = [replace(message, made_after_boundary=False) for message in messages]
    assert refused(chat(*old, summary="They met.", archived=6)) == "nothing_new"


def test_d5_pressing_twice_is_refused_the_second_time() -> None:
    transcript = chat(*turns(10))
    after = folded(planned(transcript), transcript, "They asked and answered.")
    assert refused(after) == "nothing_new"


def test_d5_a_new_turn_after_the_boundary_can_be_compacted() -> None:
    transcript = chat(*turns(10))
    after = folded(planned(transcript), transcript, "They asked and answered.")
    grown = replace(after, messages=after.messages + chat(*turns(4, size=80)).messages)
    assert planned(grown).archived[0] == after.messages[0]


def test_d5_a_long_unanswered_message_after_the_boundary_is_something_new() -> None:
    transcript = chat(*turns(10))
    after = folded(planned(transcript), transcript, "They asked and answered.")
    assert planned(replace(after, messages=(*after.messages, replace(user("now"), id=1))))


@pytest.mark.parametrize("transcript", [chat(*turns(1)), chat(user("hi")), chat(*turns(1), user("and"))])
def test_d_a_chat_of_one_turn_is_refused(transcript: Transcript) -> None:
    assert refused(transcript) == "one_turn"


def test_d1_hopeless_when_even_an_empty_summary_saves_too_little() -> None:
    assert refused(chat(*turns(2, size=10), system=words(1_000))) == "hopeless"


def test_d1_hopeless_when_the_last_turn_is_nearly_everything() -> None:
    assert refused(chat(*turns(2, size=10), *turns(1, size=2_000))) == "hopeless"


def test_d1_system_prompt_and_tail_over_the_trigger_need_no_call() -> None:
    assert refused(chat(*turns(3, size=100), *turns(1, size=200), system=words(250)), LIMITS) == "over_trigger"


def test_d2_accepted_at_80_percent_and_under_the_trigger() -> None:
    transcript = chat(*turns(10))
    found = accept(planned(transcript), transcript, "They asked and answered.", WIDE)
    assert isinstance(found, Accepted)
    assert found.tokens_after < planned(transcript).size_before * 0.8


def test_d2_a_summary_as_long_as_what_it_replaces_is_refused() -> None:
    transcript = chat(*turns(10))
    found = accept(planned(transcript), transcript, words(1_500), WIDE)
    assert isinstance(found, Refusal)
    assert found.code == "not_smaller"


def test_d2_a_request_that_stays_at_the_trigger_is_refused() -> None:
    transcript = chat(*turns(10))
    limits = replace(WIDE, window=2_000, threshold_percent=32)
    found = accept(planned(transcript, limits), transcript, words(160), limits)
    assert isinstance(found, Refusal)
    assert found.code == "over_trigger"


@pytest.mark.parametrize("changes", [{"threshold_percent": 0}, {"window": 0}])
def test_d2_without_a_trigger_only_the_size_counts(changes: dict[str, int]) -> None:
    transcript = chat(*turns(10))
    limits = replace(WIDE, window=500, **changes) if "window" not in changes else replace(WIDE, window=0)
    assert isinstance(accept(planned(transcript, limits), transcript, "They talked.", limits), Accepted)


def test_d2_what_accept_tells_is_what_the_meter_shows_afterwards() -> None:
    transcript = chat(*turns(9), user("so"), reply("well", usage=Usage(2_000, 10)))
    found = planned(transcript)
    outcome = accept(found, transcript, "They talked.", WIDE)
    assert isinstance(outcome, Accepted)
    assert outcome.tokens_after == measure(folded(found, transcript, "They talked."), WIDE).used


def test_k4_the_offset_is_measured_less_estimated() -> None:
    transcript = chat(*turns(9), user("so"), reply("well", usage=Usage(2_000, 10)))
    estimated = measure(replace(transcript, model="other"), WIDE).used
    assert planned(transcript).measured_offset == 2_010 - estimated


def test_a4_the_plan_learns_that_texts_are_larger_than_estimated() -> None:
    transcript = chat(*turns(9), user("so"), reply("well", usage=Usage(3_000, 10)))
    assert planned(transcript).ratio == pytest.approx(3_010 / measure(replace(transcript, model="x"), WIDE).used)


@pytest.mark.parametrize(
    ("window", "percent", "replaced", "budget"),
    [
        (8_192, 5, 100_000, 409),
        (1_000, 5, 100_000, 300),
        (200_000, 5, 100_000, 2_000),
        (8_192, 5, 800, 200),
        (0, 5, 100_000, 409),
        (8_192, 20, 100_000, 1_638),
        (8_192, 5, 0, 1),
    ],
)
def test_e4_summary_length(window: int, percent: int, replaced: int, budget: int) -> None:
    assert summary_budget(window, percent, replaced) == budget


def test_b3_three_times_the_window_ends_under_the_trigger() -> None:
    limits = replace(LIMITS, window=2_000)
    transcript = chat(*turns(75), user("so"))
    found = planned(transcript, limits)
    outcome = accept(found, transcript, words(found.summary_budget // 3), limits)
    assert isinstance(outcome, Accepted)
    assert outcome.tokens_after < limits.trigger


def test_c1_within_a_turn_the_loop_is_cut_and_its_request_sent_again() -> None:
    steps = [part for name in "abcd" for part in (reply("", calls=name), result(name, words(100, name)))]
    transcript = chat(user("look"), *steps)
    found = plan(transcript, WIDE, within_turn=True)
    assert isinstance(found, Plan)
    request = assemble(folded(found, transcript, "Looked."))
    assert found.resent == transcript.messages[0]
    assert [message.role for message in request] == ["system", "user", "assistant", "tool"]


def test_plan_of_100_000_messages_takes_well_under_a_second() -> None:
    transcript = chat(*turns(50_000, size=6))
    assert processor_seconds(lambda: planned(transcript)) < 1.0


@given(random_chat(), st.sampled_from([WIDE, LIMITS, replace(LIMITS, window=0)]), st.booleans())
def test_c_archived_and_kept_are_the_messages_in_order(chat: Transcript, limits: Limits, within_turn: bool) -> None:
    found = plan(chat, limits, within_turn=within_turn)
    assert plan(chat, limits, within_turn=within_turn) == found
    if isinstance(found, Plan):
        assert found.archived + found.kept == chat.messages
        assert found.through == found.archived[-1]
        assert found.size_without_summary <= found.size_before * 0.8


@given(random_chat())
def test_c2_unanswered_messages_are_always_kept(transcript: Transcript) -> None:
    found = plan(transcript, WIDE)
    if isinstance(found, Plan):
        assert found.kept[0].role == "user"
        assert len(found.archived) <= first_unanswered(transcript.messages)
        assert not any(message.status in (Status.QUEUED, Status.STREAMING) for message in found.archived)
        assert any(message.is_answer and message.content for message in found.kept)


@given(random_chat())
def test_g4_no_archived_text_is_in_the_request(transcript: Transcript) -> None:
    found = plan(transcript, WIDE)
    if isinstance(found, Plan):
        sent = str(as_payload(assemble(folded(found, transcript, "They talked."))))
        archived = {word for message in found.archived for word in message.content.split() if "x" in word}
        assert not archived & set(sent.replace("\\n", " ").replace("'", " ").split())
