"""Forty and more further things that a server can do. A row: what it does, the text that is kept, and what is told.

Each ends in time, without a traceback in the log, and with a sentence of its own for the person.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import tracemalloc
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from chatapp.llm import Target, close_clients, stream_chat
from compaction.transcript import Usage
from tests.certificates import server_context, trusting
from tests.faults.calls import AT_ONCE, HELLO, KEY, Outcome, call, outcome_of, target_of
from tests.scripted import (
    Play,
    ScriptedEndpoint,
    Step,
    close,
    cut,
    delta,
    document,
    done,
    drop,
    event,
    finish,
    hang,
    head,
    json_error,
    pause,
    raw,
    reset,
    text,
    usage_dict,
    wire,
)

SECONDS = 30
WHOLE = "One two"
WORDS: list[Step] = [text("One "), text("two")]
GOOD: list[Step] = [*WORDS, finish(), done()]
CHOICE = '{"choices":[{"index":0,"delta":{"content":"One two"}}]}'
END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
LINES = f"data: {CHOICE}\n\n{END}"
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@dataclass(frozen=True)
class Row:
    """`script` is played for every try; `text` is kept; `code` as in errors.py, "" for a whole reply."""

    script: list[Step]
    text: str = WHOLE
    code: str = ""
    finish_reason: str = "stop"
    options: dict[str, float] = field(default_factory=dict)


def told(script: list[Step], code: str, *, kept: str = "", **options: float) -> Row:
    return Row(script, kept, code, "", options)


def broken(script: list[Step], code: str = "cut_off", **options: float) -> Row:
    return told([head(), *WORDS, *script], code, kept=WHOLE, **options)


def bytewise(data: str) -> list[Step]:
    return [raw(bytes([byte])) for byte in data.encode()]


def drip(data: bytes) -> Step:
    async def step(play: Play) -> None:
        while True:
            await play.body(data)
            await asyncio.sleep(0.01)

    return step


def flood(data: bytes, times: int) -> Step:
    async def step(play: Play) -> None:
        for _ in range(times):
            await play.body(data)

    return step


def endlessly(data: bytes) -> Step:
    async def step(play: Play) -> None:
        while True:
            await play.wire(data)

    return step


def packed(data: bytes, *, encoding: str = "gzip") -> list[Step]:
    return [head(headers={"Content-Encoding": encoding}), raw(data)]


def with_usage(*usages: Any) -> list[Step]:
    return [head(), *[event({"choices": [], "usage": usage}) for usage in usages], *GOOD]


ROWS = {
    # slow
    "first byte later than the longest silence": Row([pause(0.2), head(), *GOOD], options={"idle_seconds": 0.1}),
    "one byte at a time": Row([head(), *bytewise(LINES)]),
    "a byte now and then that never makes an event": broken([drip(b"x")], "stalled", idle_seconds=0.2),
    "a byte now and then before the first event": told([head(), drip(b"x")], "no_first_token", first_token_seconds=0.3),
    "a ping now and then and never a word": told(
        [head(), drip(b"event: ping\ndata: {}\n\n")], "no_first_token", first_token_seconds=0.3
    ),
    "headers and no more": told([head(), hang()], "no_first_token", first_token_seconds=0.2),
    "half a status line and no more": told([wire(b"HTTP/1.1 2"), hang()], "no_first_token", first_token_seconds=0.2),
    "half a header and no more": told([wire(OK_HEAD + b"X-Ha"), hang()], "no_first_token", first_token_seconds=0.2),
    "interim answers without end": told(
        [endlessly(b"HTTP/1.1 103 Early Hints\r\n\r\n")], "no_first_token", first_token_seconds=0.3
    ),
    # spelled otherwise
    "a byte order mark": Row([head(), raw("\ufeff" + LINES)]),
    "CRLF": Row([head(), raw(LINES.replace("\n", "\r\n"))]),
    "CR alone": Row([head(), raw(LINES.replace("\n", "\r"))]),
    "CRLF cut between the two": Row([head(), *bytewise(LINES.replace("\n", "\r\n"))]),
    "an event over several data lines": Row([head(), raw(f"data: {{\ndata: {CHOICE[1:]}\n\n{END}")]),
    "UTF-16": told([head(), raw(LINES.encode("utf-16"))], "empty_reply"),
    "Latin-1": told([head(), raw(LINES.replace("One", "Où").encode("latin-1"))], "garbled"),
    "[DONE] with blanks": Row([head(), raw(LINES.replace("data: [DONE]", "data:  [DONE] \t"))]),
    "an end in another spelling after the finish reason": Row([head(), raw(LINES.replace("[DONE]", "[END]"))]),
    "a stream that calls itself JSON": Row([head(content_type="application/json"), *GOOD]),
    "a stream that calls itself HTML": Row([head(content_type="text/html; charset=utf-8"), *GOOD]),
    "HTTP/1.0 without a length": Row([wire(b"HTTP/1.0 200 OK\r\n\r\n" + LINES.encode()), cut()]),
    "a length and then the end of the connection": Row(
        [wire(OK_HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(LINES), LINES.encode())), cut()]
    ),
    "interim answers first": Row(
        [wire(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), head(), *GOOD]
    ),
    # packed
    "gzip": Row(packed(gzip.compress(LINES.encode()))),
    "deflate": Row(packed(zlib.compress(LINES.encode()), encoding="deflate")),
    "gzip torn in the middle": told([*packed(gzip.compress(LINES.encode())[:-30]), cut()], "cut_off", kept=WHOLE),
    "no gzip at all under its name": told(packed(LINES.encode()), "unreachable"),
    "an encoding that nobody knows": Row(packed(LINES.encode(), encoding="snappy")),
    # framing
    "a torn chunk": broken([wire(b"zz\r\nnonsense\r\n")]),
    "a chunk of negative length": broken([wire(b"-5\r\nabc\r\n")]),
    "a chunk longer than said": broken([wire(b"3\r\nabcdef\r\n")]),
    "a length that is longer than the body": told(
        [wire(OK_HEAD + b"Content-Length: 5000\r\n\r\ndata: " + CHOICE.encode() + b"\n\n"), cut()],
        "cut_off",
        kept=WHOLE,
    ),
    "a length that is shorter than the body": told(
        [wire(OK_HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(CHOICE) + 9, LINES.encode())), cut()],
        "cut_off",
        kept=WHOLE,
    ),
    "two different lengths": told(
        [wire(OK_HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc"), cut()], "unreachable"
    ),
    "a length that is none": told([wire(OK_HEAD + b"Content-Length: x\r\n\r\nabc"), cut()], "unreachable"),
    "a status that is none": told([wire(b"HTTP/1.1 abc OK\r\n\r\n"), cut()], "unreachable"),
    "a status nobody knows": told([wire(b"HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n"), cut()], "server_error"),
    "a header of 200 kB": told([wire(OK_HEAD + b"X: " + b"x" * 200_000 + b"\r\n\r\n"), cut()], "unreachable"),
    "headers without end": told([wire(OK_HEAD), endlessly(b"X-More: and more\r\n" * 100)], "unreachable"),
    "a line break in a header": told([wire(OK_HEAD + b"X: a\x00b\r\n\r\n"), cut()], "unreachable"),
    # resets
    "a reset before the answer": told([reset()], "unreachable"),
    "a reset after the headers": told([head(), pause(0.05), reset()], "unreachable"),
    "a reset after the finish reason": Row([head(), *WORDS, finish(), pause(0.05), reset()]),
    "an end at once": told(drop(), "unreachable"),
    # odd words
    "the finish reason twice": Row([head(), *WORDS, finish(), finish(), done()]),
    "another finish reason after the first": Row(
        [head(), *WORDS, finish(), finish("length"), done()], finish_reason="length"
    ),
    "a finish reason that nobody knows": Row([head(), *WORDS, finish("wibble"), done()], finish_reason="wibble"),
    "a finish reason that is no word": Row([head(), *WORDS, delta({}, finish=5), done()], finish_reason=""),  # type: ignore[arg-type]
    "words after the finish reason": Row([head(), text("One "), finish(), text("two"), done()]),
    "words after [DONE]": Row([head(), *GOOD, text("three"), event({"error": "late"})]),
    "two choices": Row(
        [head(), raw(LINES.replace('"choices":[', '"choices":[{"index":1,"delta":{"content":"No"}},', 1))]
    ),
    "the index as a word": Row([head(), raw(LINES.replace('"index":0', '"index":"0"'))]),
    "roles alone": Row([head(), *[delta({"role": "assistant"})] * 3, finish(), done()], text=""),
    "content null": Row([head(), delta({"content": None}), *WORDS, delta({"content": None}), finish(), done()]),
    "content that is a number": Row([head(), delta({"content": 5}), *GOOD]),
    "a delta that is a word": Row([head(), event({"choices": [{"index": 0, "delta": "No"}]}), *GOOD]),
    "choices that are no list": Row([head(), event({"choices": {"0": "No"}}), *GOOD]),
    "a key twice": Row([head(), raw(f'data: {{"choices":[],{CHOICE[1:]}\n\n{END}')]),
    "another model's name": Row([head(), delta({"content": WHOLE}, model="gpt-2"), finish(), done()]),
    "a tool call half sent": broken(
        [delta({"tool_calls": [{"index": 0, "function": {"name": "lo", "arguments": '{"a'}}]}), cut()]
    ),
    "NUL in an escape": Row([head(), raw(LINES.replace("One two", "One\\u0000two"))], text="One\0two"),
    "NUL as it is": told([head(), raw(LINES.replace("One two", "One\0two"))], "garbled"),
    "half a surrogate at each end": Row(
        [head(), raw(LINES.replace("One two", "\\ude00One two\\ud83d"))], text="?One two?"
    ),
    "JSON a hundred thousand deep": broken([raw('data: {"choices":' + "[" * 100_000 + "\n\n")], "garbled"),
    "a number of ten thousand digits": broken([raw('data: {"created":' + "9" * 10_000 + "}\n\n")], "garbled"),
    "ten thousand empty events": Row([head(), flood(b"data: {}\n\n" * 100, 100), *GOOD]),
    # too much
    "a line of 20 MB without an end": broken([flood(b"x" * 100_000, 200)], "reply_too_large"),
    "one event of 20 MB": broken([text("x" * 20_000_000)], "reply_too_large"),
    # says that it failed
    "an error within an error": broken([event({"error": {"error": {"message": "GPU fell over"}}})], "error_in_stream"),
    "errors in a list": broken(
        [event({"success": False, "errors": [{"message": "GPU fell over"}]})], "error_in_stream"
    ),
    "an error that is a number": broken([event({"error": 7})], "error_in_stream"),
    "no content": told([wire(b"HTTP/1.1 204 No Content\r\n\r\n"), cut()], "empty_reply"),
    "reset content": told([wire(b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"), cut()], "empty_reply"),
    "an answer of no length": told(document(""), "empty_reply"),
    "a page of a captive portal": told(
        document("<html>Sign in to this Wi-Fi", content_type="text/html"), "not_a_stream"
    ),
    "not modified": told([wire(b"HTTP/1.1 304 Not Modified\r\n\r\n"), cut()], "bad_request"),
    "I am a teapot": told(json_error(418, "short and stout"), "bad_request"),
    "proxy wants a password": told(json_error(407, "Proxy Authentication Required"), "forbidden"),
    "an error of 400 in UTF-16": told(document('{"error": "no"}'.encode("utf-16"), status=400), "bad_request"),
    "an error whose body never ends": told(
        [head(400, "application/json"), raw("{"), endlessly(b"1000\r\n" + b" " * 0x1000 + b"\r\n")], "bad_request"
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_whatever_a_server_does_text_is_kept_and_told_in_a_sentence(
    endpoint: ScriptedEndpoint, row: Row, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.always(row.script)

    async with asyncio.timeout(SECONDS):
        outcome = await call(endpoint, **row.options)

    assert (outcome.text, outcome.code) == (row.text, row.code), outcome.detail
    if not row.code:
        assert outcome.finish_reason == row.finish_reason
    else:
        assert_is_told(outcome)
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


def assert_is_told(outcome: Outcome) -> None:
    """In a sentence of its own, not in the one for whatever has none."""
    page = render_to_string("chat/_failure.html", {"code": outcome.code, "detail": outcome.detail})
    assert "It did not work out" not in page
    assert outcome.detail.isprintable()
    assert len(outcome.detail) <= 300


def test_there_are_forty_of_them() -> None:
    assert len(ROWS) >= 40


@pytest.mark.parametrize(
    ("usages", "read"),
    [
        ([usage_dict(10, 2)], Usage(10, 2, total=12)),
        ([usage_dict(9, 1), usage_dict(10, 2)], Usage(10, 2, total=12)),
        ([usage_dict(10, 2), None, {}, [], "12", 5], Usage(10, 2, total=12)),
        ([{"prompt_tokens": "10", "completion_tokens": "2", "total_tokens": "12"}], Usage(10, 2, total=12)),
        ([{"prompt_tokens": -10, "completion_tokens": -2}], None),
        ([{"prompt_tokens": 10**18, "completion_tokens": 2}], Usage(0, 2)),
        ([{"prompt_tokens": float("inf"), "completion_tokens": float("nan")}], None),
        ([{"prompt_tokens": True, "completion_tokens": [2]}], None),
        ([{"prompt_tokens": "1" * 9_999, "completion_tokens": "-1"}], None),
    ],
    ids=[
        "before the text",
        "twice",
        "then none",
        "as words",
        "negative",
        "absurd",
        "no numbers",
        "other types",
        "long",
    ],
)
async def test_usage_is_read_where_it_can_be_meant(
    endpoint: ScriptedEndpoint, usages: list[Any], read: Usage | None
) -> None:
    endpoint.will(with_usage(*usages))
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == (WHOLE, "")
    assert [seen.usage for seen in outcome.usages] == ([read] if read else [])


@pytest.mark.parametrize(
    ("told_wait", "seconds"),
    [
        ("1.5", 1.5),
        ("0", 0),
        (" 7 ", 7),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
        ("Tue, 32 Foo 2026 99:99:99 GMT", None),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("inf", None),
        ("nan", None),
        ("1e3", 1000),
        ("99999999999999999999", None),
        ("Fri, 31 Dec 9999 23:59:59 +2359", None),
        ("10, 20", None),
        ("120 seconds", None),
    ],
)
async def test_retry_after_is_read_in_every_spelling_or_left(
    endpoint: ScriptedEndpoint, told_wait: str, seconds: float | None
) -> None:
    endpoint.always(json_error(429, "slow down", {"Retry-After": told_wait}))
    outcome = await call(endpoint)
    assert outcome.code == "busy"
    assert getattr(outcome.error, "retry_after", "missing") == seconds


@pytest.mark.parametrize("step", [flood(b"data: " + b"x" * 100_000, 200), flood(b": nothing\n\n" * 1_000, 20)])
async def test_memory_is_bounded_whatever_comes(endpoint: ScriptedEndpoint, step: Step) -> None:
    endpoint.will([head(), *WORDS, step])
    tracemalloc.start()
    try:
        await call(endpoint)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


# --- TLS and names ---


async def told_of(base_url: str) -> Outcome:
    return await outcome_of(stream_chat(Target(base_url, KEY, "m"), HELLO, patience=AT_ONCE))


@pytest.mark.parametrize(
    ("days_left", "host", "words"),
    [(1, "localhost", "certificate verify failed"), (-1, "localhost", "certificate verify failed")],
    ids=["signed by itself", "expired"],
)
async def test_certificate_that_does_not_hold_is_told(tmp_path: Path, days_left: int, host: str, words: str) -> None:
    async with ScriptedEndpoint(tls=server_context(tmp_path, days_left=days_left)) as endpoint:
        outcome = await told_of(f"https://{host}:{endpoint.port}/v1")
        await close_clients()
    assert (outcome.code, endpoint.requests) == ("unreachable", [])
    assert words in outcome.detail.lower()
    assert_is_told(outcome)


async def test_plain_server_behind_https_and_tls_behind_http_are_told(
    endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatapp.llm.clients.CONNECT_SECONDS", 0.5)
    outcomes = [await told_of(endpoint.base_url.replace("http:", "https:"))]
    async with ScriptedEndpoint(tls=server_context(tmp_path)) as secured:
        outcomes.append(await told_of(secured.base_url.replace("https:", "http:")))
    for outcome in outcomes:
        assert outcome.code == "unreachable"
        assert_is_told(outcome)


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 64 + ".invalid", "a..b", "xn--a", ".", "-"])
async def test_name_that_leads_nowhere_is_told(host: str) -> None:
    outcome = await told_of(f"http://{host}/v1")
    await close_clients()
    assert outcome.code == "unreachable"
    assert_is_told(outcome)


async def test_endpoint_at_an_ipv6_address_is_called(endpoint: ScriptedEndpoint) -> None:
    try:
        server = await asyncio.start_server(endpoint._accept, "::1", 0)
    except OSError:
        pytest.skip("This machine has no IPv6.")
    async with server:
        port = server.sockets[0].getsockname()[1]
        outcome = await outcome_of(
            stream_chat(replace(target_of(endpoint), base_url=f"http://[::1]:{port}/v1"), HELLO, patience=AT_ONCE)
        )
    assert outcome.text == "OK"


async def test_kept_connection_that_was_closed_meanwhile_costs_one_more_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection is kept where it is secured; the server may close it at any time."""
    async with ScriptedEndpoint(tls=server_context(tmp_path)) as endpoint:
        monkeypatch.setattr("chatapp.llm.network.tls", lambda: trusting(tmp_path / "localhost.pem"))
        target = Target(f"https://localhost:{endpoint.port}/v1", KEY, "m")
        endpoint.will([head(), *GOOD, wire(b"0\r\n\r\n"), cut()])
        outcomes = [await outcome_of(stream_chat(target, HELLO, patience=AT_ONCE)) for _ in range(2)]
        await close_clients()
    assert [outcome.text for outcome in outcomes] == [WHOLE, "OK"]


async def test_end_of_body_is_not_waited_for_longer_than_a_moment(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), *GOOD, hang()])
    async with asyncio.timeout(SECONDS):
        outcome = await call(endpoint, idle_seconds=600)
    assert (outcome.text, outcome.code) == (WHOLE, "")
    await endpoint.requests[0].left.seen()


async def test_answer_closed_in_good_order_without_an_end_is_cut_off(endpoint: ScriptedEndpoint) -> None:
    endpoint.will([head(), *WORDS, close()])
    outcome = await call(endpoint)
    assert (outcome.text, outcome.code) == (WHOLE, "cut_off")
