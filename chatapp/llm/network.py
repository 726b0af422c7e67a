"""How a connection is opened: the name is asked for once, its addresses are judged, and one of those is connected to.

So a name that leads elsewhere a moment later (DNS rebinding) changes nothing; TLS and the Host header keep the name.
"""

from __future__ import annotations

import asyncio
import ssl
from asyncio.staggered import staggered_race
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult
from urllib.request import getproxies, proxy_bypass

import anyio
import httpcore2
import httpx2

from chatapp.destinations import Destinations, look_up

HEAD_START_SECONDS = 0.25  # of each address before the next is tried beside it (RFC 8305)

LookUp = Callable[[str, int], Future[list[str]]]


class CheckedBackend(httpcore2.AnyIOBackend):
    def __init__(self, destinations: Destinations, ask: LookUp = look_up) -> None:
        self._destinations = destinations
        self._ask = ask

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        opened: list[httpcore2.AsyncNetworkStream] = []
        chosen = None

        async def open_one(address: str) -> httpcore2.AsyncNetworkStream:
            stream = await super(CheckedBackend, self).connect_tcp(
                address, port, local_address=local_address, socket_options=socket_options
            )
            opened.append(stream)
            return stream

        try:
            async with asyncio.timeout(timeout):
                addresses = await checked_addresses(self._destinations, host, port, self._ask)
                tries = [partial(open_one, address) for address in addresses]
                chosen, _, failures = await staggered_race(tries, HEAD_START_SECONDS)
        except TimeoutError as late:
            raise httpcore2.ConnectTimeout("No connection in time.") from late
        finally:
            # The race keeps nothing for one that gives it up, nor what was opened a moment after the first.
            with anyio.CancelScope(shield=True):
                for stream in opened:
                    if stream is not chosen:
                        await stream.aclose()
        if chosen is None:
            raise next(failure for failure in failures if failure)
        return CheckedStream(chosen)


class CheckedStream(httpcore2.AsyncNetworkStream):
    """A connection that is closed when its handshake is given up; httpcore does that after an error alone.

    `unread_seconds`, where it is set, is asked before each read for how long what comes may lie in the socket.
    """

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self.unread_seconds: Callable[[], float] | None = None
        self._stream = stream
        self.write, self.aclose = stream.write, stream.aclose  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 (httpcore's)
        if self.unread_seconds and (seconds := self.unread_seconds()) > 0:
            await asyncio.sleep(seconds)
        return await self._stream.read(max_bytes, timeout)

    async def start_tls(self, *arguments: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        try:
            return CheckedStream(await self._stream.start_tls(*arguments, **options))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()
            raise


async def checked_addresses(destinations: Destinations, host: str, port: int, ask: LookUp = look_up) -> list[str]:
    """Raises Forbidden, or httpcore's ConnectError where the name leads nowhere."""
    try:
        found = await asyncio.wrap_future(ask(host, port))
    except (OSError, UnicodeError) as nowhere:
        raise httpcore2.ConnectError(f"The name {host} can't be found: {nowhere}") from nowhere
    return destinations.checked(host, found)


class DirectTransport(httpx2.AsyncHTTPTransport):
    """To the checked addresses alone."""

    def __init__(self, destinations: Destinations, limits: httpx2.Limits) -> None:
        super().__init__(verify=tls(), limits=limits)
        # httpx2 has no argument for the backend of the pool that it makes.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=CheckedBackend(destinations),
        )


class ProxiedTransport(httpx2.AsyncHTTPTransport):
    """Through the operator's proxy, which asks for the name itself; where it leads from here is judged all the same."""

    def __init__(self, destinations: Destinations, proxy: str) -> None:
        super().__init__(verify=tls(), proxy=proxy)
        self._destinations = destinations

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        with suppress(httpcore2.ConnectError):  # many a network behind a proxy has no names of the outside
            await checked_addresses(self._destinations, request.url.host, request.url.port or 0)
        return await super().handle_async_request(request)


def transport_to(address: SplitResult, destinations: Destinations) -> httpx2.AsyncBaseTransport:
    host = address.hostname or ""
    proxy = getproxies().get(address.scheme) or getproxies().get("all")
    # A proxy of the environment can't reach this machine's loopback.
    if proxy and not (_is_loopback(host) or proxy_bypass(host)):
        return ProxiedTransport(destinations, proxy)
    # A handshake is worth keeping; a plain connection isn't, and xllamacpp drops a kept one after a stream.
    kept = 20 if address.scheme == "https" else 0
    return DirectTransport(destinations, httpx2.Limits(max_keepalive_connections=kept, keepalive_expiry=60))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
