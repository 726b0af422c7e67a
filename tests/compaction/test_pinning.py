from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.budget import measure
from compaction.pinning import may_pin, pinned_messages
from compaction.planning import Accepted, Plan, accept, folded, plan
from compaction.prompts import chunks
from compaction.request import GAP_MARK, RequestMessage, as_payload, assemble
from compaction.tokens import estimate_request
from compaction.transcript import Message, Status, Transcript, Usage
from tests.compaction.talk import LIMITS, chat, pinned, reply, result, turns, user, words
from tests.compaction.test_planning import WIDE


def pinned_chat(*messages: Message, **options: str) -> Transcript:
    archived = tuple(replace(message, id=50 + index, position=index) for index, message in enumerate(messages))
    live = chat(*turns(1), user("so"), **options)  # type: ignore[arg-type]
    return replace(live, pinned=archived, archived_count=9)


def told(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in assemble(transcript)]


def test_c6_pinned_messages_come_after_the_record_and_before_the_live_ones() -> None:
    transcript = pinned_chat(user("450 euros at most"), reply("Understood."), system="Be brief.", summary="They met.")
    assert [role for role, _ in told(transcript)] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert told(transcript)[1:3] == [("user", "450 euros at most"), ("assistant", "Understood.")]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("a")], ["a", GAP_MARK]),
        ([reply("b")], [GAP_MARK, "b"]),
        ([user("a"), user("c")], ["a", GAP_MARK, "c", GAP_MARK]),
        ([reply("b"), reply("d")], [GAP_MARK, "b", GAP_MARK, "d"]),
        ([user("a"), reply("d"), user("e")], ["a", "d", "e", GAP_MARK]),
        ([], []),
    ],
)
def test_c6_each_stands_alone_and_roles_alternate(messages: list[Message], expected: list[str]) -> None:
    request = assemble(pinned_chat(*messages))
    assert [message.content for message in request[: len(expected)]] == expected
    roles = [message.role for message in request]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]


def test_c6_without_a_system_role_the_record_stands_before_the_first_pinned_message() -> None:
    first = assemble(pinned_chat(user("450 euros"), summary="They met."), no_system_role=True)[0]
    assert first.role == "user"
    assert first.content.endswith("</record>\n\n450 euros")


def test_c6_pinned_messages_are_a_part_of_the_size() -> None:
    transcript = pinned_chat(user(words(50)), system="Be brief.", summary="They met.")
    meter = measure(transcript, LIMITS)
    assert meter.pinned == estimate_request([RequestMessage("user", words(50)), RequestMessage("assistant", GAP_MARK)])
    assert meter.used == pytest.approx(estimate_request(assemble(transcript)), abs=4)
    assert meter.system + meter.summary + meter.pinned + meter.live == meter.used


def test_c6_the_parts_add_up_where_less_was_recorded_than_estimated() -> None:
    bare = pinned_chat(user(words(50)), system=words(20), summary=words(20))
    recorded = chat(user("hi"), reply("ok", usage=Usage(40, 1)), system=words(20), summary=words(20))
    meter = measure(replace(bare, messages=recorded.messages), LIMITS)
    assert meter.system + meter.summary + meter.pinned + meter.live == meter.used == 41


def test_c6_a_pinned_message_that_is_archived_is_summed_up_and_sent_verbatim() -> None:
    transcript = chat(pinned(user("450 euros at most")), reply("fine"), *turns(9))
    found = plan(transcript, WIDE)
    assert isinstance(found, Plan)
    assert "450 euros" in chunks(found, earlier_summary="", window=8_192, budget=300)[0].text
    after = folded(found, transcript, "They talked.")
    assert after.pinned == transcript.messages[:1]
    assert told(after)[1] == ("user", "450 euros at most")


def test_c6_earlier_pins_stay_before_newer_ones() -> None:
    transcript = replace(chat(pinned(user("newer")), reply("fine"), *turns(9)), pinned=(replace(user("older"), id=7),))
    found = plan(transcript, WIDE)
    assert isinstance(found, Plan)
    assert [message.content for message in folded(found, transcript, "They talked.").pinned] == ["older", "newer"]


def test_c6_a_pinned_message_in_the_tail_is_sent_once() -> None:
    transcript = chat(*turns(9), pinned(user("450 euros at most")), reply("fine"), user("so"))
    found = plan(transcript, WIDE)
    assert isinstance(found, Plan)
    sent = str(as_payload(assemble(folded(found, transcript, "They talked."))))
    assert sent.count("450 euros at most") == 1


def test_d2_what_is_promised_counts_the_pins() -> None:
    transcript = chat(pinned(user(words(60, "keep"))), reply("fine"), *turns(9))
    found = plan(transcript, WIDE)
    assert isinstance(found, Plan)
    outcome = accept(found, transcript, "They talked.", WIDE)
    assert isinstance(outcome, Accepted)
    assert outcome.tokens_after == pytest.approx(
        estimate_request(assemble(folded(found, transcript, "They talked."))), abs=4
    )


def test_c6_up_to_fifteen_percent_of_the_window() -> None:
    message = replace(user(words(45)), id=1)
    size = estimate_request([message, RequestMessage("assistant", GAP_MARK)])
    assert may_pin(chat(), message, replace(LIMITS, window=-(-size * 100 // 15))) is None
    refusal = may_pin(chat(), message, replace(LIMITS, window=size * 100 // 15 - 7))
    assert refusal is not None
    assert (refusal.code, refusal.detail) == ("too_much_pinned", f"{size} > {size - 2}")


def test_c6_all_pins_count_together_archived_and_live() -> None:
    wide = replace(LIMITS, window=3_000)
    transcript = replace(chat(pinned(user(words(80)))), pinned=(replace(user(words(80, "old")), id=7),))
    assert may_pin(chat(), replace(user(words(80, "new")), id=8), wide) is None
    assert may_pin(transcript, replace(user(words(80, "new")), id=8), wide) is not None
    assert len(pinned_messages(transcript)) == 2


def test_c6_pinning_again_counts_once() -> None:
    transcript = chat(pinned(user(words(60))))
    limits = replace(LIMITS, window=2_000)
    assert may_pin(transcript, transcript.messages[0], limits) is None


def test_c6_the_learned_ratio_and_an_unknown_window_count() -> None:
    message = replace(user(words(200)), id=1)
    assert may_pin(chat(), message, replace(LIMITS, window=0)) is None
    assert may_pin(chat(), message, replace(LIMITS, window=0, ratio=3.0)) is not None


@pytest.mark.parametrize(
    "message",
    [
        result("a"),
        reply("let me see", calls="a"),
        user("wait", status=Status.QUEUED),
        reply("half", status=Status.STREAMING),
        reply("", status=Status.FAILED),
    ],
)
def test_c6_steps_of_tools_and_unfinished_messages_cannot_be_pinned(message: Message) -> None:
    refusal = may_pin(chat(), message, LIMITS)
    assert refusal is not None
    assert refusal.code == "not_pinnable"
