from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.budget import Meter
from compaction.memory import Memory, after_failure, after_refusal, after_success, may_try, recall
from compaction.transcript import Message, Transcript
from tests.compaction.talk import chat, turns, user

CHAT = chat(*turns(3))
NOTHING = Memory()


def at(used: int, *, window: int = 1_000) -> Meter:
    return Meter(used, 600, window, measured=True, system=0, summary=0, live=used, pending=0)


REFUSED = after_refusal(NOTHING, at(700), CHAT)


def grown(transcript: Transcript, *messages: Message) -> Transcript:
    return chat(*transcript.messages, *messages)


def failed(times: int, memory: Memory = NOTHING) -> Memory:
    for _ in range(times):
        memory = after_failure(memory, CHAT)
    return memory


def test_d3_nothing_remembered_is_no_obstacle() -> None:
    assert may_try(NOTHING, at(700), CHAT) == ""


@pytest.mark.parametrize(("size", "answer"), [(700, "refused_before"), (769, "refused_before"), (770, ""), (800, "")])
def test_d3_after_a_refusal_only_ten_percent_of_growth_allows_another_try(size: int, answer: str) -> None:
    assert may_try(REFUSED, at(size), grown(CHAT, user("and"))) == answer


def test_d3_forgotten_when_the_path_is_edited() -> None:
    edited = replace(CHAT, messages=(*CHAT.messages[:-1], replace(CHAT.messages[-1], id=999)))
    assert may_try(REFUSED, at(710), edited) == ""


def test_d3_forgotten_when_the_size_falls_even_if_it_comes_back() -> None:
    fallen = recall(REFUSED, at(699), CHAT)
    assert fallen.refused_size == 0
    assert may_try(fallen, at(700), CHAT) == ""


@pytest.mark.parametrize(
    ("meter", "transcript"), [(at(710), replace(CHAT, model="other")), (at(710, window=2_000), CHAT)]
)
def test_d3_forgotten_when_model_or_window_changes(meter: Meter, transcript: Transcript) -> None:
    assert may_try(REFUSED, meter, transcript) == ""


def test_d3_forgotten_when_a_compaction_succeeds() -> None:
    assert may_try(after_success(), at(700), CHAT) == ""


def test_d3_a_refusal_that_still_holds_is_remembered_whole() -> None:
    assert recall(REFUSED, at(760), grown(CHAT, user("and"))) == REFUSED


def test_d3_never_in_the_way_of_an_overflow() -> None:
    assert may_try(REFUSED, at(700), CHAT, is_full=True) == ""


@pytest.mark.parametrize(("size", "answer"), [(899, "refused_before"), (900, ""), (950, "")])
def test_d3_not_in_the_way_from_ninety_percent_of_the_window_on(size: int, answer: str) -> None:
    assert may_try(after_refusal(NOTHING, at(880), CHAT), at(size), CHAT) == answer


def test_d3_an_unknown_window_is_never_ninety_percent_full() -> None:
    refused = after_refusal(NOTHING, at(700, window=0), CHAT)
    assert may_try(refused, at(710, window=0), CHAT) == "refused_before"


@pytest.mark.parametrize(("times", "answer"), [(1, ""), (2, ""), (3, "resting"), (4, "resting")])
def test_d4_after_three_failures_in_a_row_it_rests(times: int, answer: str) -> None:
    assert may_try(failed(times), at(950), CHAT) == answer


def test_d4_an_overflow_rests_too() -> None:
    assert may_try(failed(3), at(1_200), CHAT, is_full=True) == "resting"


def test_d4_a_success_ends_the_row() -> None:
    assert may_try(failed(2, after_success()), at(700), CHAT) == ""


def test_d4_another_model_ends_the_rest_and_counts_anew() -> None:
    other = replace(CHAT, model="other")
    assert may_try(failed(3), at(700), other) == ""
    assert after_failure(failed(3), other).failures == 1


def test_d4_a_refusal_between_failures_ends_no_row() -> None:
    refused = after_refusal(failed(2), at(700), CHAT)
    assert failed(1, refused).is_resting


def test_d4_the_rest_outlives_size_path_and_window() -> None:
    elsewhere = chat(user("new"))
    assert may_try(recall(failed(3), at(10), elsewhere), at(500, window=9_000), elsewhere) == "resting"
