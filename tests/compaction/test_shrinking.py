from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.budget import measure
from compaction.request import RequestMessage, assemble
from compaction.shrinking import Shrunk, shorten_old_results, shortened, shrink
from compaction.steps import is_due_between_steps
from compaction.tokens import estimate_request
from compaction.transcript import Message, Status, Transcript, Usage, first_unanswered
from tests.compaction.talk import LIMITS, chat, random_chat, reply, result, turns, user, words


def sent(shrunk: Shrunk) -> tuple[RequestMessage, ...]:
    return assemble(shrunk.transcript)


def size(transcript: Transcript) -> int:
    return estimate_request(assemble(transcript))


def loop(*names: str, length: int = 200) -> list[Message]:
    return [part for name in names for part in (reply("", calls=name), result(name, words(length, f"{name}x")))]


def ids(transcript: Transcript, *positions: int) -> tuple[int, ...]:
    return tuple(transcript.messages[position].id for position in positions)


def test_b7_the_request_falls_to_sixty_percent_of_the_window() -> None:
    transcript = chat(*turns(12), user("so"))
    assert size(transcript) > 1_000
    assert size(shrink(transcript, LIMITS).transcript) <= 600


def test_b7_oldest_tool_results_are_cut_before_any_turn_is_left_out() -> None:
    transcript = chat(user("look"), *loop("a", length=600), *loop("b", "c"), reply("done"), user("so"))
    shrunk = shrink(transcript, replace(LIMITS, window=4_000))
    assert (shrunk.shortened, shrunk.dropped) == (ids(transcript, 2), ())
    assert sent(shrunk)[2].content.endswith("characters of this result are left out here.]")


def test_b7_then_the_oldest_turns_are_left_out_whole() -> None:
    transcript = chat(*turns(6), user("so"))
    shrunk = shrink(transcript, LIMITS)
    assert shrunk.dropped == ids(transcript, *range(len(shrunk.dropped)))
    assert len(shrunk.dropped) % 2 == 0
    assert sent(shrunk)[0].content.startswith("ask")


def test_b7_no_more_is_left_out_than_need_be() -> None:
    transcript = chat(*turns(6), user("so"))
    dropped = len(shrink(transcript, LIMITS).dropped)
    one_more = replace(transcript, messages=transcript.messages[dropped - 2 :])
    assert size(one_more) > min(600, size(transcript) * 0.6)


def test_b7_the_window_is_corrected_by_recorded_against_estimated() -> None:
    limits = replace(LIMITS, window=3_000)
    plain = chat(*turns(12), user("q"), reply("a"), user("so"))
    recorded = chat(*turns(12), user("q"), reply("a", usage=Usage(4_400, 1)), user("so"))
    corrected = 3_000 * size(plain) / measure(recorded, limits).used
    assert size(shrink(recorded, limits).transcript) <= 0.6 * corrected < size(shrink(plain, limits).transcript)


def test_b7_what_was_refused_is_larger_than_the_window_whatever_the_estimate_says() -> None:
    transcript = chat(*turns(6), user("so"))
    for limits in (replace(LIMITS, window=100_000), replace(LIMITS, window=0)):
        assert size(shrink(transcript, limits).transcript) <= 0.6 * size(transcript)


def test_b7_a_second_try_goes_further() -> None:
    transcript = chat(*turns(6), user("so"))
    once = shrink(transcript, LIMITS)
    assert size(shrink(once.transcript, LIMITS).transcript) <= 0.6 * size(once.transcript)


def test_b7_the_size_of_a_shrunk_request_is_estimated_since_the_recorded_one_counts_what_left() -> None:
    transcript = chat(*turns(30, size=4), user("q"), reply("a", usage=Usage(1_450, 1)), user("so"))
    once = shrink(transcript, LIMITS)
    assert measure(once.transcript, LIMITS).used == pytest.approx(size(once.transcript), abs=4)
    assert size(shrink(once.transcript, LIMITS).transcript) > 0.4 * size(once.transcript)


def test_b7_the_unanswered_message_stays_however_long() -> None:
    transcript = chat(*turns(3), user(words(2_000)))
    shrunk = shrink(transcript, LIMITS)
    assert shrunk.dropped == ids(transcript, *range(6))
    assert [message.content for message in sent(shrunk)] == [words(2_000)]


def test_b7_nothing_can_be_left_out_of_one_message() -> None:
    assert not shrink(chat(user(words(2_000))), LIMITS).is_changed


def test_b7_in_a_long_loop_old_steps_go_and_the_newest_stays_with_its_request() -> None:
    calls = [part for n in range(60) for part in (reply(words(9, f"n{n}x"), calls="a"), result("a", "found"))]
    transcript = chat(user("look"), *calls)
    request = sent(shrink(transcript, LIMITS))
    assert [request[0].content, request[-1].content] == ["look", "found"]
    assert estimate_request(request) <= 600


def test_b7_last_of_all_the_newest_result_is_shortened_not_emptied() -> None:
    request = sent(shrink(chat(user("look"), *loop("a", length=2_000)), LIMITS))
    assert request[-1].role == "tool"
    assert request[-1].content.startswith("ax0 ax1")
    assert request[-1].content.endswith("ax1999")


def test_b7_the_resent_request_goes_with_the_last_of_its_steps() -> None:
    resent = replace(user("look"), id=55)
    bare = chat(*loop("a"), reply("done"), *turns(4), user("so"), summary="They looked.", archived=2, resent=resent)
    shrunk = shrink(bare, LIMITS)
    assert 55 in shrunk.dropped
    assert sent(shrunk)[1].content.startswith("ask")


def test_b7_queued_messages_are_neither_counted_nor_left_out() -> None:
    waiting = user(words(3_000), status=Status.QUEUED)
    transcript = chat(*turns(1), user("so"), waiting)
    shrunk = shrink(transcript, replace(LIMITS, window=0))
    assert shrunk.transcript.messages[-1].content == waiting.content
    assert shrunk.dropped == ids(transcript, 0, 1)


def test_b7_the_rows_stay_as_they_are() -> None:
    transcript = chat(user("look"), *loop("a", "b", "c"), reply("done"), user("so"))
    before = repr(transcript)
    shrink(transcript, LIMITS)
    assert repr(transcript) == before


@settings(deadline=None)
@given(random_chat(), st.sampled_from([0, 100, 300, 1_000]))
def test_b7_pairs_stay_whole_and_every_drop_is_told(transcript: Transcript, window: int) -> None:
    shrunk = shrink(transcript, replace(LIMITS, window=window))
    left = {message.id: message for message in shrunk.transcript.messages}
    before = {message.id: message for message in transcript.messages}
    assert set(before) - set(left) == set(shrunk.dropped)
    assert {name for name in left if left[name].content != before[name].content} == set(shrunk.shortened)
    last = first_unanswered(transcript.messages)
    assert all(message.id in left for message in transcript.messages[last:] if message.role == "user")
    results = [message for message in left.values() if message.role == "tool"]
    assert len([m for m in assemble(shrunk.transcript) if m.role == "tool"]) == len(results)
    roles = [message.role for message in assemble(shrunk.transcript) if message.role != "system"]
    assert not roles or roles[0] == "user"


def test_b9_above_half_of_the_window_old_results_are_shortened() -> None:
    transcript = chat(user("look"), *loop("a", "b", "c", "d", "e"), reply("done"), user("so"))
    shrunk = shorten_old_results(transcript, replace(LIMITS, window=4_000))
    assert (shrunk.shortened, shrunk.dropped) == (ids(transcript, 2, 4), ())
    assert size(shrunk.transcript) < size(transcript)


def test_b9_up_to_half_of_the_window_nothing_changes() -> None:
    transcript = chat(user("look"), *loop("a", "b", "c", "d", "e"), reply("done"), user("so"))
    assert not shorten_old_results(transcript, replace(LIMITS, window=20_000)).is_changed
    assert not shorten_old_results(transcript, replace(LIMITS, window=0)).is_changed


def test_b9_what_people_and_the_model_wrote_is_not_touched() -> None:
    transcript = chat(*turns(10), *[user("look"), *loop(*"abcde")], reply("done"))
    shrunk = shorten_old_results(transcript, LIMITS)
    changed = {message.id for message in transcript.messages} - {
        message.id for message in shrunk.transcript.messages if message in transcript.messages
    }
    assert {message.role for message in transcript.messages if message.id in changed} == {"tool"}


def test_b9_a_smaller_recorded_size_of_the_shortened_request_undoes_nothing() -> None:
    steps = [user("look"), *loop("a", "b", "c", "d", "e")]
    transcript = chat(*steps, reply("done", usage=Usage(400, 10)), user("so"))
    assert shorten_old_results(transcript, replace(LIMITS, window=4_000)).is_changed


@pytest.mark.parametrize("text", ["", "found", "x" * 650])
def test_b9_a_short_result_stays_whole(text: str) -> None:
    assert shortened(text) == text


def test_b4_between_steps_the_same_meter_decides() -> None:
    steps = [user("look"), *loop("a", "b")]
    transcript = chat(*steps)
    used = measure(transcript, replace(LIMITS, window=100_000)).used
    assert is_due_between_steps(transcript, replace(LIMITS, window=used, threshold_percent=100))
    assert not is_due_between_steps(transcript, replace(LIMITS, window=used + 1, threshold_percent=100))


@pytest.mark.parametrize("messages", [[], turns(40), [*turns(40), reply("", calls="ab"), result("a")]])
def test_b4_elsewhere_it_is_not_between_steps(messages: list[Message]) -> None:
    assert not is_due_between_steps(chat(*messages), LIMITS)
