"""Transcripts for the tests: short ways to say who said what, and random ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from compaction.budget import Limits
from compaction.transcript import Message, Status, ToolCall, Transcript, Usage

LIMITS = Limits(window=1_000, threshold_percent=85, tail_percent=30, summary_percent=5)


def pinned(message: Message) -> Message:
    return replace(message, is_pinned=True)


def numbered(*messages: Message) -> tuple[Message, ...]:
    return tuple(replace(message, id=100 + index, position=index) for index, message in enumerate(messages))


def user(text: str, *, status: Status = Status.COMPLETE) -> Message:
    return Message(0, 0, "user", text, status)


def reply(
    text: str,
    *,
    status: Status = Status.COMPLETE,
    calls: str = "",
    usage: Usage | None = None,
    is_new: bool = True,
    estimated_prompt: int = 0,
    model: str = "toy",
) -> Message:
    """`calls`: one letter a tool call, which is its id."""
    return Message(
        0,
        0,
        "assistant",
        text,
        status,
        tool_calls=tuple(ToolCall(letter, "look_up", f'{{"q": "{letter}"}}') for letter in calls),
        usage=usage,
        model=model,
        made_after_boundary=is_new,
        estimated_prompt=estimated_prompt,
    )


def result(call: str, text: str = "found") -> Message:
    return Message(0, 0, "tool", text, tool_call_id=call)


def chat(
    *messages: Message,
    system: str = "",
    summary: str = "",
    archived: int = 0,
    offset: int = 0,
    resent: Message | None = None,
) -> Transcript:
    return Transcript(system, summary, numbered(*messages), "toy", archived, offset, resent)


def words(count: int, word: str = "word") -> str:
    return " ".join(f"{word}{index}" for index in range(count))


def turns(count: int, *, size: int = 40) -> list[Message]:
    """Turns of equal size, each with words of its own."""
    pairs = ((user(words(size, f"ask{n}x")), reply(words(size, f"say{n}x"))) for n in range(count))
    return [message for pair in pairs for message in pair]


@st.composite
def random_turn(draw: st.DrawFn, number: int) -> list[Message]:
    said = draw(st.integers(1, 40))
    messages = [user(words(said, f"ask{number}x"))]
    for step in range(draw(st.integers(0, 3))):
        calls = "abc"[: draw(st.integers(1, 3))]
        messages.append(reply(words(step, f"step{number}x"), calls=calls))
        messages += [result(call, words(step + 1, f"tool{number}{call}x")) for call in draw(st.permutations(calls))]
    ending = draw(st.sampled_from(["complete", "complete", "complete", "stopped", "failed", "empty"]))
    if ending == "empty":
        return [*messages, reply("", status=Status.FAILED)]
    return [*messages, reply(words(draw(st.integers(1, 60)), f"say{number}x"), status=Status(ending))]


@st.composite
def random_chat(draw: st.DrawFn) -> Transcript:
    count = draw(st.integers(0, 12))
    messages = [message for number in range(count) for message in draw(random_turn(number))]
    end = draw(st.sampled_from(["answered", "unanswered", "queued", "streaming", "in_loop"]))
    if end != "answered":
        messages.append(user("the latest question"))
    if end == "queued":
        messages += [user("queued behind it", status=Status.QUEUED), user("and another", status=Status.QUEUED)]
    if end == "streaming":
        messages.append(reply("half a", status=Status.STREAMING))
    if end == "in_loop":
        messages += [reply("", calls="ab"), result("a"), result("b")]
    summary = draw(st.sampled_from(["", "They talked of lighthouses."]))
    system = draw(st.sampled_from(["", "Be brief.\n"]))
    return chat(*messages, system=system, summary=summary, archived=4 if summary else 0)
