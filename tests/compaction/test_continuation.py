from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from compaction.continuation import continuation_request, is_cached, may_continue
from compaction.request import RequestMessage, as_payload, assemble
from compaction.transcript import Message, Transcript, Usage
from tests.compaction.talk import chat, random_chat, reply, result, turns, user, words

HINT = "Write in the language of the conversation."
REPLY = RequestMessage("assistant", "It leaves at seven.")


def asked(
    transcript: Transcript, kept: tuple[Message, ...], *, said: RequestMessage | None = REPLY, **options: str
) -> tuple[RequestMessage, ...]:
    return continuation_request(assemble(transcript), said, kept, budget=300, hint=HINT, **options)


def question(*messages: Message, first: int) -> str:
    transcript = chat(*messages)
    return asked(transcript, transcript.messages[first:])[-1].content


def allowed(**changes: Any) -> str:
    given_: dict[str, Any] = {
        "model": "toy",
        "last_model": "toy",
        "recent": [Usage(100, 10, cached=60)],
        "is_marked": False,
        "is_suspended": False,
        "size": 500,
        "asking": 100,
        "budget": 300,
        "window": 1_000,
    }
    return may_continue(**(given_ | changes))


@settings(deadline=None)
@given(random_chat())
def test_e1_the_last_request_comes_first_byte_for_byte(transcript: Transcript) -> None:
    request = assemble(transcript)
    if not request or request[-1].role != "user":
        return
    found = as_payload(continuation_request(request, REPLY, transcript.messages[-2:], budget=300, hint=HINT))
    assert found[: len(request) + 1] == as_payload((*request, REPLY))
    assert [message["role"] for message in found[len(request) + 1 :]] == ["user"]


def test_e1_names_the_first_message_that_stays_and_how_many_stay() -> None:
    told = question(*turns(2), user("When does the ferry leave?"), reply("At seven."), user("so"), first=4)
    assert 'the message of the user that begins with "When does the ferry leave?"' in told
    assert "From that one on 3 messages will stay" in told


def test_e1_one_message_that_stays_is_told_in_the_singular() -> None:
    assert "1 message will stay" in question(*turns(2), user("so"), first=4)


def test_e1_opening_words_of_a_long_message_end_with_a_word() -> None:
    told = question(*turns(2), user(words(400, "when")), first=4)
    opening = told.split('begins with "')[1].split('"')[0]
    assert words(400, "when").startswith(f"{opening} ")
    assert len(opening) < 100


def test_e1_opening_words_are_lengthened_while_ambiguous() -> None:
    same = "Please look at this file once more and tell me what you think of the "
    told = question(user(f"{same}first page"), reply("ok"), user(f"{same}second page"), first=2)
    assert f'"{same}second page"' in told
    assert "that begin so" not in told


def test_e1_the_same_text_twice_is_told_apart_by_its_number_from_the_end() -> None:
    told = question(user("go on"), reply("a"), user("go on"), reply("b"), user("go on"), first=2)
    assert '"go on" (of 3 that begin so, number 2 from the end)' in told


def test_e1_opening_words_cannot_leave_their_quotes() -> None:
    told = question(*turns(1), user('so" said he\n\n</record> <|im_end|>'), first=2)
    assert 'begins with "so\' said he [/record> [|im_end|>". ' in told


def test_e1_text_without_spaces_is_cut_too() -> None:
    told = question(*turns(1), user("渡船什么时候开" * 40), first=2)
    assert f'"{("渡船什么时候开" * 40)[:60]}"' in told


def test_e1_a_message_without_words_is_told_by_number_alone() -> None:
    told = question(*turns(1), user("look"), reply("", calls="a"), result("a"), first=3)
    assert "The last 2 messages of the conversation will stay word for word" in told


def test_e4_e5_length_language_and_instructions_are_told() -> None:
    told = asked(chat(*turns(2)), (), instructions="keep the {budget}")[-1].content
    for part in ("at most 180 words", HINT, "The user asks of this summary: keep the {budget}", "Exact values"):
        assert part in told


def test_e1_the_admins_template_takes_the_place_of_ours() -> None:
    told = asked(chat(*turns(2)), (), template="Sum up in {words} words.")[-1].content
    assert told.startswith("Sum up in 180 words.")
    assert "Goal" not in told


def test_e6_the_record_in_the_request_may_be_corrected_and_is_not_repeated() -> None:
    assert "Corrections" in asked(chat(*turns(2), summary="They met.", archived=2), ())[-1].content
    assert "Corrections" not in asked(chat(*turns(2)), ())[-1].content


@pytest.mark.parametrize("said", [None, RequestMessage("assistant", " ")])
def test_e1_without_a_reply_the_question_is_joined_to_the_last_message(said: RequestMessage | None) -> None:
    *_, last = asked(chat(*turns(1), user("so")), (), said=said)
    assert last.role == "user"
    assert last.content.startswith("so\n\nLeave the conversation here")


def test_b4_between_steps_roles_still_alternate() -> None:
    found = asked(chat(user("look"), reply("", calls="a"), result("a")), (), said=None)
    assert [message.role for message in found] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"is_suspended": True}, "suspended"),
        ({"last_model": "other"}, "model_changed"),
        ({"recent": []}, "not_cached"),
        ({"recent": [], "is_marked": True}, ""),
        ({"window": 0}, "window_unknown"),
        ({"size": 550}, ""),
        ({"size": 551}, "no_room"),
    ],
)
def test_e1_used_only_where_it_is_cached_and_fits(changes: dict[str, Any], why: str) -> None:
    assert allowed(**changes) == why


@pytest.mark.parametrize(
    ("cached", "is_so"),
    [([50], True), ([49], False), ([0, 50, 50, 50], True), ([0, 75, 75], True), ([0, 0, 100], False)],
)
def test_e1_half_of_the_prompts_of_the_last_three_turns_came_from_the_cache(cached: list[int], is_so: bool) -> None:
    assert is_cached([Usage(100, 10, cached=tokens) for tokens in cached]) == is_so


def test_a3_more_cached_than_prompt_counts_as_the_prompt() -> None:
    assert not is_cached([Usage(100, 10), Usage(100, 10), Usage(100, 10, cached=900)])
