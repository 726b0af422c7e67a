"""What a stream can do wrong once it has begun. Each test names the fault in its docstring."""

from __future__ import annotations

import asyncio
import json

import pytest

from chatapp.llm.deltas import Finished, ToolCallSeen
from chatapp.llm.errors import EndpointBusy, NotAStream, RequestTooLong
from chatapp.llm.reading import LONGEST_REPLY_CHARACTERS
from compaction.transcript import Usage
from tests.faults.calls import KEY, call
from tests.scripted import (
    Play,
    ScriptedEndpoint,
    Signal,
    Step,
    close,
    cut,
    delta,
    document,
    done,
    event,
    finish,
    hang,
    head,
    hold,
    raw,
    reply,
    reset,
    text,
    usage_only,
    wire,
)

OPENING = [head(), delta({"role": "assistant"}), text("One "), text("two")]


async def test_stream_whole_yields_each_delta_and_one_finish(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(reply("One two", usage=(10, 2, 8)))
    outcome = await call(endpoint)
    assert outcome.texts == ["One ", "two"]
    assert outcome.usages[0].usage == Usage(10, 2, 8, total=12)
    assert outcome.events[-1] == Finished("stop")
    assert outcome.error is None


# --- ends too early ---


@pytest.mark.parametrize("end", [close(), cut()], ids=["end in good order", "body without its end"])
async def test_stream_without_finish_reason_or_done_is_cut_off_and_text_kept(
    endpoint: ScriptedEndpoint, end: Step
) -> None:
    """Ends without a finish reason or [DONE]."""
    endpoint.will([*OPENING, end])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("One two", "cut_off")
    assert len(endpoint.requests) == 1


async def test_stream_reset_in_the_middle_is_cut_off_and_text_kept(endpoint: ScriptedEndpoint) -> None:
    """Resets the connection in mid-stream."""
    gate = Signal()
    endpoint.will([*OPENING, hold(gate), reset()])
    gate.set()
    outcome = await call(endpoint)
    assert outcome.code == "cut_off"
    assert "One two".startswith(outcome.text)
    assert len(endpoint.requests) == 1


async def test_stream_with_half_a_last_chunk_is_cut_off_not_garbled(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([*OPENING, raw('data: {"choices": [{"del'), cut()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("One two", "cut_off")


async def test_stream_reset_after_finish_reason_is_whole(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([*OPENING, finish(), cut()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.finish_reason, outcome.code) == ("One two", "stop", "")


@pytest.mark.parametrize("words", ["One", ""])
async def test_stream_that_stays_open_after_its_finish_reason_is_whole(endpoint: ScriptedEndpoint, words: str) -> None:
    endpoint.will([head(), text(words), finish("length"), hang()])
    outcome = await call(endpoint, idle_seconds=0.05)
    assert (outcome.text, outcome.finish_reason, outcome.code) == (words, "length", "")


async def test_stream_with_done_but_no_finish_reason_is_whole(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([*OPENING, done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.events[-1]) == ("One two", Finished(""))


# --- isn't what it should be ---


@pytest.mark.parametrize(
    "junk", [b"data: {nonsense\n\n", b'data: {"a": "\xff\xfe"}\n\n', b"data: 5\n\n", b"data: " + b"[" * 9999 + b"\n\n"]
)
async def test_stream_with_junk_is_garbled_and_text_kept(endpoint: ScriptedEndpoint, junk: bytes) -> None:
    """Sends a chunk that isn't JSON, or broken UTF-8."""
    endpoint.will([*OPENING, raw(junk), done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("One two", "garbled")


async def test_stream_with_characters_cut_by_packets_is_read_whole(endpoint: ScriptedEndpoint) -> None:
    whole = 'data: {"choices":[{"index":0,"delta":{"content":"héß 😀 \u2028 end"}}]}\r\n\r\n'.encode()
    endpoint.will([head(), *(raw(whole[i : i + 1]) for i in range(len(whole))), finish(), done()])
    outcome = await call(endpoint)
    assert outcome.text == "héß 😀 \u2028 end"


async def test_stream_with_half_an_emoji_in_an_escape_gives_text_that_can_be_stored(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(
        [head(), raw(b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}\n\n'), finish(), done()]
    )
    outcome = await call(endpoint)
    assert outcome.text.encode() == b"a?"


async def test_stream_without_empty_lines_or_spaces_is_read(endpoint: ScriptedEndpoint) -> None:
    lines = [json.dumps({"choices": [{"delta": {"content": word}}]}) for word in ("One ", "two")]
    endpoint.will([head(), raw("".join(f"data:{line}\n" for line in lines) + "data:[DONE]")])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("One two", "")


# --- says that it failed ---


async def test_stream_with_error_object_is_told_in_its_words_and_text_kept(endpoint: ScriptedEndpoint) -> None:
    """`{"error": {…}}` as a chunk."""
    endpoint.will([*OPENING, event({"error": {"message": "GPU fell over", "code": "oops"}}), done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code, outcome.detail) == ("One two", "error_in_stream", "GPU fell over")


async def test_stream_with_error_text_is_told_in_its_words(endpoint: ScriptedEndpoint) -> None:
    """`{"error": "text"}` as a chunk."""
    endpoint.will([*OPENING, event({"error": "GPU fell over"}), done()])
    outcome = await call(endpoint)
    assert (outcome.code, outcome.detail) == ("error_in_stream", "GPU fell over")


@pytest.mark.parametrize(
    "line",
    [
        'event: error\ndata: {"message": "GPU fell over"}\n\n',
        "event: error\ndata: GPU fell over\n\n",
        'error: {"code": 500, "message": "GPU fell over"}\n\n',
        'data: {"object": "error", "message": "GPU fell over"}\n\n',
        'data: {"detail": "GPU fell over"}\n\n',
        '{"error": {"message": "GPU fell over"}}\n',
        'data: {"choices": [{"index": 0, "error": {"message": "GPU fell over"}, "finish_reason": "error"}]}\n\n',
    ],
)
async def test_stream_with_an_error_in_another_frame_is_told_in_its_words(
    endpoint: ScriptedEndpoint, line: str
) -> None:
    """`event: error` without an `error` key, and its relatives."""
    endpoint.will([*OPENING, raw(line), done()])
    outcome = await call(endpoint)
    assert outcome.text == "One two"
    assert outcome.code in {"error_in_stream", "server_error"}
    assert outcome.detail == "GPU fell over"


async def test_stream_with_unknown_event_is_an_error_that_names_it(endpoint: ScriptedEndpoint) -> None:
    """Unknown events are errors."""
    endpoint.will([*OPENING, raw('event: surprise\ndata: {"a": 1}\n\n'), done()])
    outcome = await call(endpoint)
    assert (outcome.code, "surprise" in outcome.detail) == ("error_in_stream", True)


async def test_stream_with_overflow_as_an_error_chunk_is_too_long(endpoint: ScriptedEndpoint) -> None:
    sentence = "the request exceeds the available context size. try increasing the context size"
    endpoint.will(
        [
            head(),
            event({"error": {"code": 400, "message": sentence, "n_ctx": 2048, "type": "exceed_context_size_error"}}),
        ]
    )
    outcome = await call(endpoint)
    assert isinstance(outcome.error, RequestTooLong)
    assert outcome.error.window == 2048


async def test_stream_with_rate_limit_as_an_error_chunk_is_busy(endpoint: ScriptedEndpoint) -> None:
    endpoint.always([*OPENING, event({"error": {"code": 429, "message": "Rate limit reached, try again in 7s."}})])
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointBusy)
    assert outcome.error.retry_after == 7


# --- odd but harmless ---


@pytest.mark.parametrize(
    "line",
    [
        'data: {"choices": null}\n\n',
        'data: {"choices": []}\n\n',
        'data: {"choices": [{"index": 0, "delta": null}]}\n\n',
        'data: {"choices": [null]}\n\n',
        'data: {"choices": [{"index": 1, "delta": {"content": "another"}}]}\n\n',
        ": a comment\n\n",
        "event: ping\ndata: {}\n\n",
        "id: 7\nretry: 3000\n\n",
        "\n\n\n",
        'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}\n\n',
    ],
)
async def test_stream_with_an_odd_chunk_goes_on(endpoint: ScriptedEndpoint, line: str) -> None:
    """Choices null or empty; delta null; comments; usage-only chunks."""
    endpoint.will([head(), raw(line), text("One "), raw(line), text("two"), finish(), raw(line), done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code, outcome.finish_reason) == ("One two", "", "stop")


# --- no stream at all ---


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("application/json", {"choices": [{"message": {"content": "Hi"}}]}), ("text/html", "<html><p>Welcome</p></html>")],
)
async def test_answer_that_is_no_stream_fails_and_names_its_type(
    endpoint: ScriptedEndpoint, content_type: str, body: object
) -> None:
    """200 with JSON or HTML instead of a stream."""
    endpoint.will(document(body, content_type=content_type + "; charset=utf-8"))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, NotAStream)
    assert (outcome.code, outcome.error.content_type) == ("not_a_stream", content_type)


async def test_answer_200_with_an_error_document_is_told_in_its_words(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(document({"error": {"message": "No provider", "code": 502}}))
    endpoint.always(document({"error": {"message": "No provider", "code": "x"}}))
    outcome = await call(endpoint)
    assert (outcome.code, outcome.detail) == ("error_in_stream", "No provider")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/octet-stream"])
async def test_stream_under_another_type_is_read(endpoint: ScriptedEndpoint, content_type: str | None) -> None:
    endpoint.will([head(content_type=content_type), text("Hi"), finish(), done()])
    assert (await call(endpoint)).text == "Hi"


@pytest.mark.parametrize(
    "body", [b"", b"data: [DONE]\n\n", b": only a comment\n\n"], ids=["zero bytes", "done", "comment"]
)
async def test_stream_with_nothing_in_it_is_an_empty_reply(endpoint: ScriptedEndpoint, body: bytes) -> None:
    """Zero bytes; only [DONE]."""
    endpoint.will([head(), raw(body)])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("", "empty_reply")
    assert len(endpoint.requests) == 1


async def test_stream_with_finish_but_no_text_finishes_as_it_is(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), finish("length", usage=(2048, 0)), done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.finish_reason, outcome.code) == ("", "length", "")


# --- silence ---


async def test_stream_that_stalls_ends_after_the_idle_limit_and_text_is_kept(endpoint: ScriptedEndpoint) -> None:
    """Stalls: our own idle limit."""
    endpoint.will([*OPENING, hang()])
    outcome = await call(endpoint, idle_seconds=0.05)
    assert (outcome.text, outcome.code) == ("One two", "stalled")
    await endpoint.requests[0].left.seen()


async def test_stream_kept_alive_by_comments_alone_stalls_too(endpoint: ScriptedEndpoint) -> None:
    gate = Signal()

    async def drip(play: Play) -> None:
        while not gate.is_set():
            await play.body(b": still here\n\n")

    endpoint.will([*OPENING, drip])
    outcome = await call(endpoint, idle_seconds=0.1)
    gate.set()
    assert (outcome.text, outcome.code) == ("One two", "stalled")


@pytest.mark.parametrize(
    "script", [[hang()], [head(), delta({"role": "assistant"}), hang()]], ids=["no answer", "no token"]
)
async def test_stream_without_a_first_token_ends_after_its_own_limit(
    endpoint: ScriptedEndpoint, script: list[Step]
) -> None:
    """Before the first token, patience: the idle limit doesn't count yet."""
    endpoint.will(script)
    outcome = await call(endpoint, first_token_seconds=0.1, idle_seconds=0.01)
    assert outcome.code == "no_first_token"


async def test_stream_slower_than_the_idle_limit_before_the_first_token_is_waited_for(
    endpoint: ScriptedEndpoint,
) -> None:
    gate = Signal()
    endpoint.will([head(), delta({"role": "assistant"}), hold(gate), text("At last"), finish(), done()])
    opening = asyncio.ensure_future(_set_after(gate, 0.1))
    outcome = await call(endpoint, first_token_seconds=5, idle_seconds=0.05)
    await opening
    assert (outcome.text, outcome.code) == ("At last", "")


# --- usage ---


@pytest.mark.parametrize(
    "script",
    [
        [*OPENING, finish(usage=(10, 2)), done()],
        [*OPENING, finish(), usage_only(10, 2), done()],
        [*OPENING, usage_only(10, 2), finish(), done()],
        [
            *OPENING,
            delta({}, usage={"prompt_tokens": 10, "completion_tokens": 1}),
            finish(usage=(10, 2)),
            usage_only(10, 2),
            done(),
        ],
    ],
    ids=["last chunk", "after the finish reason", "before it", "each chunk"],
)
async def test_usage_is_read_once_wherever_it_stands(endpoint: ScriptedEndpoint, script: list[Step]) -> None:
    """Usage in the last chunk, in each chunk, or in a chunk after the finish reason: never doubled."""
    endpoint.will(script)
    outcome = await call(endpoint)
    assert [seen.usage for seen in outcome.usages] == [Usage(10, 2, total=12)]


@pytest.mark.parametrize(
    "told", [{}, {"usage": None}, {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}]
)
async def test_usage_missing_or_zero_is_not_told(endpoint: ScriptedEndpoint, told: dict[str, object]) -> None:
    """No usage at all; usage 0."""
    endpoint.will([*OPENING, delta({}, finish="stop", **told), done()])
    outcome = await call(endpoint)
    assert outcome.usages == []
    assert outcome.finish_reason == "stop"


async def test_usage_seen_before_a_stream_breaks_is_still_told(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([*OPENING, usage_only(10, 2), cut()])
    outcome = await call(endpoint)
    assert (len(outcome.usages), outcome.code) == (1, "cut_off")


# --- finish reasons ---


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", "error"])
async def test_finish_reason_is_passed_on_as_it_is(endpoint: ScriptedEndpoint, reason: str) -> None:
    """Finish reason length, content_filter, tool_calls, error."""
    endpoint.will([*OPENING, finish(reason), done()])
    assert (await call(endpoint)).finish_reason == reason


async def test_tool_call_in_pieces_is_seen_once(endpoint: ScriptedEndpoint) -> None:
    call_piece = delta({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]})
    endpoint.will([head(), call_piece, call_piece, finish("tool_calls"), done()])
    outcome = await call(endpoint)
    assert outcome.events == [ToolCallSeen(), Finished("tool_calls")]


# --- too much ---


async def test_chunk_of_20_mb_is_too_large_and_text_is_kept(endpoint: ScriptedEndpoint) -> None:
    """A 20 MB chunk."""
    endpoint.will([*OPENING, text("x" * 20_000_000), finish(), done()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == ("One two", "reply_too_large")


async def test_stream_without_end_is_cut_at_the_cap_and_said_so(endpoint: ScriptedEndpoint) -> None:
    """An endless stream: total text capped."""

    async def for_ever(play: Play) -> None:
        while True:
            await play.chunk({"content": "again and " * 10_000})

    endpoint.will([head(), for_ever])
    outcome = await call(endpoint)
    assert (len(outcome.text), outcome.code) == (LONGEST_REPLY_CHARACTERS, "reply_too_large")
    await endpoint.requests[0].left.seen()


# --- secrets ---


async def test_error_in_stream_that_echoes_the_key_is_told_without_it(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([*OPENING, event({"error": f"Key {KEY} has no credit"}), done()])
    outcome = await call(endpoint)
    assert outcome.detail == "Key [key] has no credit"
    assert KEY not in str(outcome.error)


async def test_raw_answer_that_is_no_http_is_unreachable(endpoint: ScriptedEndpoint) -> None:
    endpoint.always([wire(b"SSH-2.0-OpenSSH_9.2\r\n"), cut()])
    assert (await call(endpoint)).code == "unreachable"


async def _set_after(signal: Signal, seconds: float) -> None:
    await asyncio.sleep(seconds)
    signal.set()
