"""One openai client an endpoint and event loop: making one costs tens of milliseconds, most of it for TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2
from openai import AsyncOpenAI

from chatapp.destinations import Destinations
from chatapp.llm.errors import EndpointRefused, EndpointUnreachable
from chatapp.llm.network import transport_to
from chatapp.llm.target import Target, normal_base_url
from chatapp.llm.wording import one_line

CONNECT_SECONDS = 10
MOST_CLIENTS = 32
LONGEST_ERROR_BODY_BYTES = 65_536
ERROR_BODY_SECONDS = 5


class ErrorAnswer(Exception):
    """An answer with an error status or a redirect, with the beginning of its body."""

    def __init__(self, status: int, headers: httpx2.Headers, body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.body = body


@dataclass(slots=True, eq=False)
class Connection:
    """A client, how many calls use it now, and what the endpoint's models were found not to take."""

    client: AsyncOpenAI
    calls: int = 0
    refused_options: set[tuple[str, str]] = field(default_factory=set)


Connections = dict[tuple[str, str, Destinations], Connection]
_connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()


@asynccontextmanager
async def connection_to(target: Target) -> AsyncIterator[Connection]:
    """The connection of this event loop, kept open while in use. Raises EndpointUnreachable, EndpointRefused."""
    key = target.api_key
    if not (key.strip().isascii() and key.strip().isprintable()):
        # httpcore2 would write the whole header into its log.
        raise EndpointRefused("wrong_key", "The key holds a character that no key can have.")
    connections = _connections.setdefault(asyncio.get_running_loop(), {})
    try:
        place = (normal_base_url(target.base_url), key.strip(), target.destinations)
        connection = connections.pop(place, None) or Connection(_make_client(*place))
    except (ValueError, httpx2.InvalidURL) as error:
        raise EndpointUnreachable(one_line(str(error), key)) from None
    connections[place] = connection  # the newest use is last
    connection.calls += 1
    try:
        yield connection
    finally:
        connection.calls -= 1
        await _close_unused(connections)


async def close_clients() -> None:
    """Closes what this event loop holds open; for the end of the process and of tests."""
    for connection in _connections.pop(asyncio.get_running_loop(), {}).values():
        await connection.client.close()


async def _close_unused(connections: Connections) -> None:
    """The ones unused for longest, where there are too many."""
    unused = [place for place, connection in connections.items() if not connection.calls]
    for place in unused[: max(0, len(connections) - MOST_CLIENTS)]:
        await connections.pop(place).client.close()


def _make_client(base_url: str, key: str, destinations: Destinations) -> AsyncOpenAI:
    http_client = httpx2.AsyncClient(
        # The client's own default follows redirects and would post the prompt to another origin.
        follow_redirects=False,
        transport=transport_to(urlsplit(base_url), destinations),
        trust_env=False,  # what it says of proxies and certificates is in the transport
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        event_hooks={"request": [] if key else [_drop_authorization], "response": [_raise_error_answer]},
    )
    return AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # the client insists on one
        max_retries=0,  # the one retry layer is retrying.py
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        http_client=http_client,
    )


async def _drop_authorization(request: httpx2.Request) -> None:
    request.headers.pop("Authorization", None)


async def _raise_error_answer(response: httpx2.Response) -> None:
    """The openai client would read the body of an error to its end, however long that is."""
    if response.status_code < 300:
        return
    body = bytearray()
    try:
        async with asyncio.timeout(ERROR_BODY_SECONDS):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) >= LONGEST_ERROR_BODY_BYTES:
                    break
    except (TimeoutError, httpx2.HTTPError, OSError):
        pass  # the status says enough
    raise ErrorAnswer(
        response.status_code, response.headers, body[:LONGEST_ERROR_BODY_BYTES].decode("utf-8", "replace")
    )
