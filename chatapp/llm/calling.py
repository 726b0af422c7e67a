"""One try of one call: opened, read to its end, with our own time limits; closed at once when the consumer leaves."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any, cast

import anyio
import httpx2
from openai import APIConnectionError, AsyncAPIResponse, OpenAIError

from chatapp.destinations import Forbidden
from chatapp.llm.clients import Connection, ErrorAnswer
from chatapp.llm.deltas import Event
from chatapp.llm.errors import EndpointError, EndpointRefused, EndpointUnreachable, NotAStream, StreamBroken
from chatapp.llm.lines import BYTE_ORDER_MARK
from chatapp.llm.network import CheckedStream
from chatapp.llm.reading import ReplyReader, dropped
from chatapp.llm.refusals import error_in_stream, refusal
from chatapp.llm.target import Target
from chatapp.llm.wording import one_line, parsed

# After a finish reason only usage and [DONE] are due, and they come at once or not at all.
LAST_WORDS_SECONDS = 5
# A reply that has been coming for so long is read at leisure; a short one isn't worth it.
HURRIED_SECONDS = 0.5
DRAIN_SECONDS = 0.2
LONGEST_OTHER_BODY_BYTES = 65_536
OTHER_BODY_SECONDS = 5

# anyio's own are not always translated by httpx2 (its issue 854).
NETWORK_ERRORS = (
    httpx2.HTTPError,
    httpx2.StreamError,
    ssl.SSLError,
    OSError,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
)


async def read_reply(
    connection: Connection, target: Target, body: dict[str, Any], unread_seconds: Callable[[], float] | None = None
) -> AsyncGenerator[Event, None]:
    """The events of one try; `body` is the request but for `stream`. Raises EndpointError."""
    reader = ReplyReader(target.api_key)
    clock = asyncio.get_running_loop().time
    deadline = clock() + target.first_token_seconds
    broken: EndpointError | None = None
    async with _opened(connection, target, body, deadline) as response, aclosing(_bytes_of(response)) as chunks:
        with _read_at_leisure(response, reader, unread_seconds):
            try:
                while not reader.is_whole and (chunk := await _next_chunk(chunks, reader, deadline, target.api_key)):
                    if not reader.bytes_read:
                        await _check_content(response, chunk, chunks, target.api_key)
                    events_before = reader.events_read
                    for event in reader.feed(chunk):
                        yield event
                    # A comment is a sign of life of some proxy, not of the model.
                    if reader.has_begun and reader.events_read > events_before:
                        deadline = clock() + _silence_allowed(reader, target)
            except EndpointError as error:
                broken = error
        if not (broken or reader.bytes_read):
            broken = StreamBroken("empty_reply", _content_type(response, target.api_key))
        for event in reader.finish(broken):
            yield event
        await _drain(chunks)


@contextmanager
def _read_at_leisure(
    response: AsyncAPIResponse[Any], reader: ReplyReader, unread_seconds: Callable[[], float] | None
) -> Iterator[None]:
    """Lets tokens gather in the socket: to be woken for each costs more than to read it, and nobody sees them so soon.

    For this reply alone, as the connection may be kept. Behind a proxy of the environment they are read as they come.
    """
    stream = response.http_response.extensions.get("network_stream")
    if unread_seconds is None or not isinstance(stream, CheckedStream):
        yield
        return
    clock, began = time.monotonic, 0.0

    def seconds() -> float:
        nonlocal began
        if not reader.has_begun or reader.awaits_only_usage or reader.is_whole:
            return 0
        began = began or clock()
        return unread_seconds() if clock() - began > HURRIED_SECONDS else 0

    stream.unread_seconds = seconds
    try:
        yield
    finally:
        stream.unread_seconds = None


def _silence_allowed(reader: ReplyReader, target: Target) -> float:
    return min(LAST_WORDS_SECONDS, target.idle_seconds) if reader.awaits_only_usage else target.idle_seconds


def _bytes_of(response: AsyncAPIResponse[Any]) -> AsyncGenerator[bytes, None]:
    return cast("AsyncGenerator[bytes, None]", response.iter_bytes())


async def _next_chunk(chunks: AsyncIterator[bytes], reader: ReplyReader, deadline: float, key: str) -> bytes | None:
    """None at the end of the body."""
    try:
        async with asyncio.timeout_at(deadline):
            return await anext(chunks, None)
    except TimeoutError:
        raise StreamBroken("stalled" if reader.has_begun else "no_first_token") from None
    except NETWORK_ERRORS as error:
        raise dropped(one_line(str(error), key), reader) from None


@asynccontextmanager
async def _opened(
    connection: Connection, target: Target, body: dict[str, Any], deadline: float
) -> AsyncIterator[AsyncAPIResponse[Any]]:
    # As extra_body, since the client would walk through all messages once more to check their types.
    opening = connection.client.chat.completions.with_streaming_response.create(
        model=target.model, messages=[], stream=True, extra_body=body
    )
    try:
        with as_endpoint_errors(target.api_key):
            async with asyncio.timeout_at(deadline):
                response = await opening.__aenter__()
    except TimeoutError:
        raise StreamBroken("no_first_token") from None
    try:
        yield response
    finally:
        await response.close()


@contextmanager
def as_endpoint_errors(key: str) -> Iterator[None]:
    """Whatever the client raises while a request is opened, as EndpointError; the original may hold the key."""
    try:
        yield
    except ErrorAnswer as answer:
        raise refusal(answer.status, answer.headers, answer.body, key) from None
    except Forbidden as forbidden:
        raise EndpointRefused(forbidden.code, forbidden.address) from None
    except APIConnectionError as error:
        cause = error.__cause__
        was_connected = isinstance(cause, (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError))
        raise EndpointUnreachable(one_line(str(cause or "") or str(error), key), dropped=was_connected) from None
    except TimeoutError:
        raise  # ours, although it is an OSError too
    except NETWORK_ERRORS as error:
        raise EndpointUnreachable(one_line(str(error), key)) from None
    except (OpenAIError, httpx2.InvalidURL, TypeError, ValueError) as error:
        raise EndpointRefused("bad_request", one_line(str(error), key)) from None


async def _check_content(response: AsyncAPIResponse[Any], first: bytes, rest: AsyncIterator[bytes], key: str) -> None:
    """A 200 may hold a page or a document instead of a stream; some good servers name no type at all."""
    content_type = _content_type(response, key)
    if (
        content_type == "text/event-stream"
        or first.removeprefix(BYTE_ORDER_MARK).lstrip()[:5] in (b"data:", b"event")
        or first[:1] == b":"
    ):
        return
    body = bytearray(first)
    try:
        async with asyncio.timeout(OTHER_BODY_SECONDS):
            while len(body) < LONGEST_OTHER_BODY_BYTES and (more := await anext(rest, None)):
                body += more
    except (TimeoutError, *NETWORK_ERRORS):
        pass
    words = body.decode("utf-8", "replace")
    answer = parsed(words)
    if isinstance(answer, dict) and (answer.get("error") or answer.get("object") == "error"):
        raise error_in_stream(answer, words, key)
    raise NotAStream(content_type)


def _content_type(response: AsyncAPIResponse[Any], key: str) -> str:
    told = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return one_line(told or "no content type", key)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Reads past the end, which is there already: only then can the connection be used again."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            await anext(chunks, None)
    except (TimeoutError, *NETWORK_ERRORS):
        pass
