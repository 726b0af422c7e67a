"""Answers with an error status: what each means for the caller, in the endpoint's own words and without the key."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path

import pytest

from chatapp.llm import Target, stream_chat
from chatapp.llm.errors import EndpointBusy, EndpointFailed, EndpointRefused, RequestTooLong
from tests.faults.calls import AT_ONCE, HELLO, KEY, call, outcome_of
from tests.scripted import ScriptedEndpoint, document, head, json_error, raw, redirect, reply

ANSWERS = json.loads(Path("tests/fixtures/overflow.json").read_text())
TOKENS_PER_MINUTE = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce."


@pytest.mark.parametrize(
    ("status", "sentence", "code"),
    [
        (401, "Incorrect API key provided", "wrong_key"),
        (403, "You may not use this model", "forbidden"),
        (404, "The model `scripted` does not exist", "no_such_model"),
        (400, "The model 'scripted' was not found", "no_such_model"),
        (400, "messages must alternate", "bad_request"),
        (422, "Input should be a valid list", "bad_request"),
        (400, "The response was filtered by our content management policy", "content_filter"),
    ],
)
async def test_refusal_is_told_once_with_its_words(
    endpoint: ScriptedEndpoint, status: int, sentence: str, code: str
) -> None:
    """401, 403, 404 model, 422: no retry."""
    endpoint.will(json_error(status, sentence))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointRefused)
    assert (outcome.code, outcome.detail) == (code, sentence)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("answer", ANSWERS, ids=[f"{n}-{answer['server']}" for n, answer in enumerate(ANSWERS)])
async def test_refusal_of_a_real_server_is_too_long_only_where_it_is(endpoint: ScriptedEndpoint, answer: dict) -> None:
    """Overflow: real answers with the right verdict."""
    endpoint.always(document(answer["body"], status=answer["status"]))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, RequestTooLong) == answer["overflow"]
    if isinstance(outcome.error, RequestTooLong):
        assert outcome.error.window == (answer["window"] or 0)


async def test_refusal_413_about_tokens_per_minute_is_busy_not_too_long(endpoint: ScriptedEndpoint) -> None:
    """413 that speaks of tokens per minute: a rate limit, not an overflow."""
    endpoint.always(json_error(413, TOKENS_PER_MINUTE))
    assert isinstance((await call(endpoint)).error, EndpointBusy)


async def test_refusal_for_an_empty_account_is_busy_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(
        json_error(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})
    )
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointBusy)
    assert len(endpoint.requests) == 1


# --- redirects ---


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_to_another_origin_is_not_followed(endpoint: ScriptedEndpoint, status: int) -> None:
    """Redirect to another origin: the prompt isn't posted there."""
    async with ScriptedEndpoint() as elsewhere:
        endpoint.will(redirect(elsewhere.base_url + "/chat/completions", status))
        outcome = await call(endpoint)
        assert elsewhere.requests == []
    assert isinstance(outcome.error, EndpointRefused)
    assert elsewhere.address in outcome.detail


async def test_redirect_within_the_origin_is_not_followed_either(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(redirect("/other/chat/completions"))
    assert (await call(endpoint)).code == "bad_request"
    assert len(endpoint.requests) == 1


# --- words ---


@pytest.mark.parametrize("key", [KEY, "short", "two words-of-a-key", "with\nline"])
async def test_detail_never_holds_the_key(endpoint: ScriptedEndpoint, key: str) -> None:
    """No key in text or log."""
    endpoint.always(json_error(401, f"Bad key: {key} (Bearer {key})"))
    outcome = await call(endpoint, key=key)
    parts = [part for part in key.split() if len(part) > 4]
    assert not any(part in str(outcome.error) for part in parts)
    assert outcome.code == "wrong_key"


async def test_key_is_in_no_log_and_no_traceback(endpoint: ScriptedEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.will(json_error(401, f"Bad key: {KEY}"), document(f"<p>{KEY}</p>"), [head(), raw(f"data: {KEY}\n\n")])
    outcomes = [await call(endpoint) for _ in range(3)]
    outcomes.append(await call(endpoint, key=KEY + "\n" + KEY))
    assert [outcome.code for outcome in outcomes] == ["wrong_key", "not_a_stream", "garbled", "wrong_key"]
    assert not any(KEY in "".join(traceback.format_exception(outcome.error)) for outcome in outcomes)
    assert KEY not in caplog.text


@pytest.mark.parametrize("shown", ["sk-abcdefghijkl", "sk-ab********yz12", "gsk_0123456789abcd"])
async def test_detail_never_holds_what_looks_like_a_key(endpoint: ScriptedEndpoint, shown: str) -> None:
    endpoint.will(json_error(401, f"Incorrect API key provided: {shown}. Find it on the page."))
    assert (await call(endpoint)).detail == "Incorrect API key provided: [key] Find it on the page."


async def test_detail_is_one_line_of_at_most_300_characters(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(400, "Two\nlines\u2028and\x1b[31m more " + "x" * 500))
    detail = (await call(endpoint)).detail
    assert detail.startswith("Two lines and [31m more xxx")
    assert len(detail) == 300
    assert detail.isprintable()


async def test_detail_of_a_page_is_its_words(endpoint: ScriptedEndpoint) -> None:
    page = "<html><head><title>502 Bad Gateway</title><style>b{}</style></head><body><h1>nginx</h1></body></html>"
    endpoint.always(document(page, status=502, content_type="text/html"))
    outcome = await call(endpoint)
    assert isinstance(outcome.error, EndpointFailed)
    assert outcome.detail == "502 Bad Gateway nginx"


async def test_detail_of_validation_errors_is_their_messages(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}))
    assert (await call(endpoint)).detail == "Field required"


async def test_error_body_without_end_is_read_only_in_part(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(document(b"no " * 1_000_000, status=400, content_type="text/plain"))
    assert (await call(endpoint)).detail.startswith("no no no")


# --- options ---


async def test_stream_options_refused_is_dropped_once_and_remembered(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(400, "Unrecognized request argument supplied: stream_options"))
    outcomes = [await call(endpoint), await call(endpoint)]
    assert [outcome.text for outcome in outcomes] == ["OK", "OK"]
    assert ["stream_options" in payload for payload in endpoint.payloads] == [True, False, False]


async def test_stream_options_refused_by_validation_is_dropped_once(endpoint: ScriptedEndpoint) -> None:
    refusal = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}]}
    endpoint.will(json_error(422, refusal), json_error(422, refusal))
    outcome = await call(endpoint)
    assert (outcome.code, len(endpoint.requests)) == ("bad_request", 2)


async def test_max_tokens_refused_becomes_max_completion_tokens(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."))
    assert (await call(endpoint, max_tokens=5)).text == "OK"
    assert [payload.get("max_tokens") for payload in endpoint.payloads] == [5, None]
    assert endpoint.payloads[1]["max_completion_tokens"] == 5


async def test_temperature_unsupported_is_dropped_but_a_bad_one_is_told(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(json_error(400, "temperature must be at most 2"))
    assert (await call(endpoint, temperature=3)).code == "bad_request"
    endpoint.will(json_error(400, "Unsupported value: 'temperature' does not support 0.2 with this model."))
    assert (await call(endpoint, temperature=0.2)).text == "OK"
    assert "temperature" not in endpoint.payloads[2]


@pytest.mark.parametrize(
    ("option", "value"), [("top_p", 0.5), ("stop", ["User:"]), ("seed", 7), ("reasoning_effort", "low")]
)
async def test_option_that_a_reply_can_do_without_is_dropped_once_and_remembered(
    endpoint: ScriptedEndpoint, option: str, value: object
) -> None:
    endpoint.will(json_error(400, f"Unsupported parameter: '{option}' is not supported with this model."))
    outcomes = [await call(endpoint, params={option: value, "max_tokens": 9}) for _ in range(2)]
    assert [outcome.text for outcome in outcomes] == ["OK", "OK"]
    assert [payload.get(option) for payload in endpoint.payloads] == [value, None, None]
    assert all("max_tokens" in payload for payload in endpoint.payloads)


async def test_request_holds_no_option_but_those_that_a_chat_offers(endpoint: ScriptedEndpoint) -> None:
    bad = {"temperature": 3, "seed": True, "stop": [5], "max_tokens": 0, "reasoning_effort": "enormous"}
    foreign = {"stream": False, "n": 3, "models": ["dear"], "service_tier": "priority", "tools": [], "best_of": 20}
    await call(endpoint, params={"top_p": 0.5, **bad, **foreign})
    assert endpoint.payloads == [
        {
            "model": "scripted",
            "messages": HELLO,
            "stream": True,
            "stream_options": {"include_usage": True},
            "top_p": 0.5,
        }
    ]
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_request_without_a_key_sends_no_authorization(endpoint: ScriptedEndpoint) -> None:
    endpoint.will(reply("Hi"))
    assert (await call(endpoint, key="")).text == "Hi"
    assert "authorization" not in endpoint.requests[0].headers


@pytest.mark.parametrize(
    "address", ["", "not an address", "ftp://127.0.0.1/v1", "http://[::1", "http://127.0.0.1:99999/v1"]
)
async def test_address_that_is_none_is_unreachable(address: str) -> None:
    outcome = await outcome_of(stream_chat(Target(address, KEY, "m"), HELLO, patience=AT_ONCE))
    assert outcome.code == "unreachable"
