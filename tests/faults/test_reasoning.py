"""Reasoning goes into the reasoning part, never into the reply, however an endpoint sends it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.llm.completing import Gathered
from chatapp.llm.deltas import TextWasReasoning
from chatapp.llm.reasoning import ThinkSplitter
from tests.faults.calls import call
from tests.scripted import ScriptedEndpoint, delta, done, finish, head, reasoning, text


def split(*pieces: str) -> tuple[str, str]:
    """(reply, reasoning) of a text that comes in these pieces."""
    splitter, gathered = ThinkSplitter(), Gathered()
    for piece in pieces:
        for part in splitter.feed(piece):
            gathered.take(part)
    for part in splitter.finish():
        gathered.take(part)
    return gathered.text, gathered.reasoning


# --- fields of their own ---


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_in_a_field_is_reasoning(endpoint: ScriptedEndpoint, name: str) -> None:
    """Reasoning in `reasoning_content`, `reasoning`, `thinking`."""
    endpoint.will([head(), reasoning("Hm. ", name=name), reasoning("Yes.", name=name), text("Hi"), finish(), done()])
    outcome = await call(endpoint)
    assert (outcome.reasoning, outcome.text) == ("Hm. Yes.", "Hi")


async def test_reasoning_under_two_names_at_once_is_taken_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(
        [head(), delta({"reasoning": "Hm.", "reasoning_content": "Hm.", "content": ""}), text("Hi"), finish(), done()]
    )
    assert (await call(endpoint)).reasoning == "Hm."


async def test_reasoning_among_parts_of_the_content_is_reasoning(endpoint: ScriptedEndpoint) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    endpoint.will([head(), delta({"content": [thinking, {"type": "text", "text": "Hi"}]}), finish(), done()])
    outcome = await call(endpoint)
    assert (outcome.reasoning, outcome.text) == ("Hm.", "Hi")


async def test_reasoning_alone_finishes_with_no_text(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), text("<think>Hm"), text(" yes"), finish("length"), done()])
    outcome = await call(endpoint)
    assert (outcome.reasoning, outcome.text, outcome.finish_reason) == ("Hm yes", "", "length")


async def test_reasoning_is_kept_apart_where_the_stream_breaks(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), text("<think>Hm</thi")])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("", "cut_off")


async def test_end_tag_without_a_beginning_makes_the_text_so_far_reasoning(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), text("Hm.\n"), text("</think>\n\nHi"), finish(), done()])
    outcome = await call(endpoint)
    assert TextWasReasoning() in outcome.events
    assert (outcome.reasoning, outcome.text) == ("Hm.\n", "Hi")


# --- tags ---


@pytest.mark.parametrize(
    ("whole", "reply", "thoughts"),
    [
        ("<think>a</think>b", "b", "a"),
        ("<think>\na\n</think>\n\nb", "b", "\na\n"),
        ("\n<thinking>a</thinking> b", "\nb", "a"),
        ("<THOUGHT>a</THOUGHT>b", "b", "a"),
        ("[THINK]a[/THINK]b", "b", "a"),
        ("<think>a<think>b</think>c</think>d", "d", "abc"),
        ("<think>a", "", "a"),
        ("<think>a<think>b</think>c", "", "abc"),
        ("<think></think>a", "a", ""),
        ("<think>a</think>b\n<think>c</think>d", "b\nd", "ac"),
        ("a\n</think>\nb", "b", "a\n"),
        ("</think>a", "a", ""),
    ],
)
def test_think_tags_are_parted_at_any_chunk_border(whole: str, reply: str, thoughts: str) -> None:
    """Think tags: nested, unclosed, split over chunks."""
    for cut in range(len(whole)):
        assert split(whole[:cut], whole[cut:]) == (reply, thoughts)
    assert split(*whole) == (reply, thoughts)


@pytest.mark.parametrize(
    "words",
    [
        "Use the <think> tag, and </think> to end it.",
        "```\n<think>\nx\n</think>\n```\nDone.",
        "if a < b and b > c: [THINKING] <thin",
        "a <",
        "see [1] and <b>bold</b>",
    ],
)
def test_think_tags_as_words_of_a_reply_stay_there(words: str) -> None:
    assert split(*words) == (words, "")
    assert split(words) == (words, "")


PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "think", ">", "/", "\n", "```", "a ", "b", "[THINK]"]), max_size=12
)


@given(PIECES, st.randoms(use_true_random=False))
def test_think_tags_are_parted_the_same_in_whatever_chunks(pieces: list[str], random: Random) -> None:
    whole = "".join(pieces)
    cuts = sorted(random.randrange(len(whole) + 1) for _ in range(4))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert split(*chunks) == split(whole) == split(*whole)


@given(st.text(alphabet=st.characters(exclude_characters="<["), max_size=200))
def test_text_without_tags_is_never_changed(words: str) -> None:
    assert split(*words) == (words, "")
