"""A scripted OpenAI-compatible endpoint on a free loopback port, which can also do all that a good one never does.

    async with ScriptedEndpoint() as endpoint:         # on the test's own event loop
        endpoint.will(reply("Hello"))                  # the next chat request gets this
        endpoint.will(json_error(500, "oops"), reply("Better now"))  # … and the two after it these
        endpoint.always(reply("And so on"))            # whatever comes when the queue is empty (default: "OK")
        ...  Target(endpoint.base_url, "key", "scripted")
        assert endpoint.requests[0].payload["messages"][-1]["content"] == "Hi"

    with ScriptedEndpoint.in_thread() as endpoint:     # in a thread of its own, for live servers and browsers

A script is a list of steps. `reply`, `reply_tokens`, `json_error`, `redirect`, `drop` and `document` make whole ones;
others are put together:

    gate = Signal()
    endpoint.will([head(), text("One "), hold(gate), text("two"), finish("stop", usage=(10, 2)), done()])
    await gate.reached()                               # the script has come to the gate …
    gate.set()                                         # … and may go on

Steps: head, text, reasoning, delta, event, finish, usage_only, counted_usage, done, raw (bytes within the body), wire
(bytes as they are, no framing), hold(signal), pause(seconds), hang (until the client leaves), close (the proper end of
body and connection), cut (the end without its end mark), reset. Any `async def step(play: Play)` is one too. A body
whose script simply ends is ended properly. Instead of a script, a function from the payload to a script may be given:

    endpoint.always(lambda payload: reply("Summary") if is_summary(payload) else reply("Answer"))

What came in: `endpoint.requests` (chat requests only; `endpoint.payloads` for short), each a Received with `payload`,
`headers` and two signals: `done` (its script was played to the end) and `left` (the client went away before that).
`await endpoint.received(2)` waits for the second one; `await request.left.seen()` for a signal. From other threads:
`endpoint.wait_received(2)`, `signal.wait()`. Other addresses: `endpoint.models` is what /v1/models lists,
`endpoint.pages["/props"] = document({...})` adds one; `endpoint.other_requests` counts them by path.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

PATIENCE_SECONDS = 10


class Signal:
    """Set once, from any thread; awaited on any event loop or waited for in any thread."""

    def __init__(self) -> None:
        self._is_set: Future[None] = Future()
        self._is_reached: Future[None] = Future()

    def set(self) -> None:
        _resolve(self._is_set)

    def is_set(self) -> bool:
        return self._is_set.done()

    async def seen(self, seconds: float = PATIENCE_SECONDS) -> None:
        await _awaited(self._is_set, seconds)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> None:
        self._is_set.result(seconds)

    async def reached(self, seconds: float = PATIENCE_SECONDS) -> None:
        """A script has come to `hold` of this signal."""
        await _awaited(self._is_reached, seconds)

    def wait_reached(self, seconds: float = PATIENCE_SECONDS) -> None:
        self._is_reached.result(seconds)

    async def hold(self) -> None:
        _resolve(self._is_reached)
        await asyncio.shield(asyncio.wrap_future(self._is_set))


@dataclass(eq=False)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    payload: dict[str, Any]
    done: Signal = field(default_factory=Signal)
    left: Signal = field(default_factory=Signal)


class Ended(Exception):
    """The script has ended the connection itself."""


@dataclass(eq=False)
class Play:
    """One script being played to one request."""

    request: Received
    writer: asyncio.StreamWriter
    is_chunked: bool = False

    async def wire(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def body(self, data: bytes) -> None:
        if data:
            await self.wire(b"%x\r\n%b\r\n" % (len(data), data) if self.is_chunked else data)

    async def event(self, data: Any) -> None:
        await self.body(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")

    async def chunk(self, delta: dict[str, Any] | None, *, finish: str | None = None, **more: Any) -> None:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        model = self.request.payload.get("model", "scripted")
        await self.event(
            {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices} | more
        )


Step = Callable[[Play], Awaitable[None]]
Script = Sequence[Step]
Answer = Script | Callable[[dict[str, Any]], Script]


# --- steps ---------------------------------------------------------------------------------------------------------


def head(
    status: int = 200, content_type: str | None = "text/event-stream", headers: dict[str, str] | None = None
) -> Step:
    async def step(play: Play) -> None:
        play.is_chunked = True
        lines = (
            {"Transfer-Encoding": "chunked"}
            | ({"Content-Type": content_type} if content_type else {})
            | (headers or {})
        )
        fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await play.wire(f"HTTP/1.1 {status} Scripted\r\n{fields}\r\n".encode())

    return step


def wire(data: bytes) -> Step:
    return lambda play: play.wire(data)


def raw(data: bytes | str) -> Step:
    return lambda play: play.body(data.encode() if isinstance(data, str) else data)


def event(data: Any) -> Step:
    return lambda play: play.event(data)


def delta(values: dict[str, Any] | None, *, finish: str | None = None, **more: Any) -> Step:
    """`more` stands beside `choices`, for example `usage`."""
    return lambda play: play.chunk(values, finish=finish, **more)


def text(words: str) -> Step:
    return delta({"content": words})


def reasoning(words: str, *, name: str = "reasoning_content") -> Step:
    return delta({name: words})


def finish(reason: str = "stop", *, usage: tuple[int, ...] | None = None) -> Step:
    return delta({}, finish=reason, **({"usage": usage_dict(*usage)} if usage else {}))


def usage_only(*usage: int) -> Step:
    """A chunk with empty choices after the finish reason, as `include_usage` asks for it."""
    return delta(None, usage=usage_dict(*usage))


def counted_usage(completion: int) -> Step:
    """As usage_only, the prompt counted by its length."""

    async def step(play: Play) -> None:
        await play.chunk(None, usage=usage_dict(count(play.request.payload), completion))

    return step


def done() -> Step:
    return raw(b"data: [DONE]\n\n")


def hold(signal: Signal) -> Step:
    return lambda play: signal.hold()


def pause(seconds: float) -> Step:
    return lambda play: asyncio.sleep(seconds)


def hang() -> Step:
    return hold(Signal())


def close() -> Step:
    """The proper end of the body, then of the connection."""

    async def step(play: Play) -> None:
        if play.is_chunked:
            await play.wire(b"0\r\n\r\n")
        raise Ended

    return step


def cut() -> Step:
    """The connection ends in good order, the body doesn't."""

    async def step(play: Play) -> None:
        raise Ended

    return step


def reset() -> Step:
    """The connection is torn down (RST)."""

    async def step(play: Play) -> None:
        sock: socket.socket = play.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        play.writer.transport.abort()
        raise Ended

    return step


# --- whole scripts -------------------------------------------------------------------------------------------------


def reply(
    words: str, *, thoughts: str = "", finish_reason: str = "stop", usage: tuple[int, ...] | str | None = "counted"
) -> Script:
    """A good reply, a word a chunk. `usage`: (prompt, completion[, cached]), None for none, "counted" by length."""
    pieces = [piece + " " for piece in words.split(" ")] if words else []
    if pieces:
        pieces[-1] = pieces[-1][:-1]
    return reply_tokens(pieces, thoughts=thoughts, finish_reason=finish_reason, usage=usage)


def reply_tokens(
    tokens: Sequence[str],
    *,
    delay: float = 0,
    thoughts: str = "",
    finish_reason: str = "stop",
    usage: tuple[int, ...] | str | None = "counted",
) -> Script:
    """One chunk a token, `delay` seconds before each."""
    steps: list[Step] = [head(), delta({"role": "assistant", "content": None})]
    steps += [reasoning(thoughts)] if thoughts else []
    for token in tokens:
        steps += [pause(delay), text(token)] if delay else [text(token)]
    steps.append(finish(finish_reason))
    if usage == "counted":
        steps.append(counted_usage(len(tokens)))
    elif isinstance(usage, tuple):
        steps.append(usage_only(*usage))
    return [*steps, done()]


def document(
    body: Any, *, status: int = 200, content_type: str = "application/json", headers: dict[str, str] | None = None
) -> Script:
    """Any whole answer; what isn't text or bytes goes out as JSON."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    return [head(status, content_type, headers), raw(data)]


def json_error(status: int, body: Any = "", headers: dict[str, str] | None = None) -> Script:
    """`body`: a sentence is wrapped as OpenAI does it; anything else goes out as JSON."""
    wrapped = (
        {"error": {"message": body, "type": "error", "param": None, "code": None}} if isinstance(body, str) else body
    )
    return document(wrapped, status=status, headers=headers)


def redirect(location: str, status: int = 307) -> Script:
    return document("", status=status, content_type="text/plain", headers={"Location": location})


def drop() -> Script:
    """Not one byte comes back."""
    return [cut()]


# --- the endpoint --------------------------------------------------------------------------------------------------


class ScriptedEndpoint:
    def __init__(
        self,
        models: Sequence[dict[str, Any]] = ({"id": "scripted", "object": "model"},),
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.models = list(models)
        self.tls = tls
        self.pages: dict[str, Script] = {}
        self.requests: list[Received] = []
        self.other_requests: Counter[str] = Counter()
        self.port = 0
        self._queue: deque[Answer] = deque()
        self._default: Answer = reply("OK")
        self._waiting: list[tuple[int, Signal]] = []
        self._lock = threading.Lock()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def will(self, *answers: Answer) -> None:
        self._queue.extend(answers)

    def always(self, answer: Answer) -> None:
        self._default = answer

    @property
    def address(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return self.address + "/v1"

    @property
    def payloads(self) -> list[dict[str, Any]]:
        return [request.payload for request in self.requests]

    async def received(self, number: int = 1, seconds: float = PATIENCE_SECONDS) -> Received:
        await self._arrival(number).seen(seconds)
        return self.requests[number - 1]

    def wait_received(self, number: int = 1, seconds: float = PATIENCE_SECONDS) -> Received:
        self._arrival(number).wait(seconds)
        return self.requests[number - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 26, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server
        self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @classmethod
    @contextmanager
    def in_thread(cls, models: Sequence[dict[str, Any]] = ({"id": "scripted", "object": "model"},)) -> Iterator[Self]:
        endpoint, is_up, may_end = cls(models), Signal(), Signal()

        async def serve() -> None:
            async with endpoint:
                is_up.set()
                await may_end.hold()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), name="scripted endpoint", daemon=True)
        thread.start()
        is_up.wait()
        try:
            yield endpoint
        finally:
            may_end.set()
            thread.join(PATIENCE_SECONDS)

    def _arrival(self, number: int) -> Signal:
        signal = Signal()
        with self._lock:
            if len(self.requests) >= number:
                signal.set()
            else:
                self._waiting.append((number, signal))
        return signal

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read_request(reader):
                if not await _play(self._script_for(request), Play(request, writer), reader):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, Ended):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _script_for(self, request: Received) -> Script:
        path = request.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            with self._lock:
                self.requests.append(request)
                for number, signal in self._waiting:
                    if len(self.requests) >= number:
                        signal.set()
            answer = self._queue.popleft() if self._queue else self._default
            return answer(request.payload) if callable(answer) else answer
        self.other_requests[path] += 1
        if path in self.pages:
            return self.pages[path]
        if path == "/v1/models":
            return document({"object": "list", "data": self.models})
        return json_error(404, f"No such page: {path}")


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    try:
        top = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = top.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, json.loads(body) if body else {})


async def _play(script: Script, play: Play, reader: asyncio.StreamReader) -> bool:
    """Plays until the end or until the client leaves; True where the connection can take another request."""
    playing = asyncio.ensure_future(_play_steps(script, play))
    watching = asyncio.ensure_future(
        reader.read(1)
    )  # a client that waits for an answer says nothing; b"" is its leaving
    try:
        await asyncio.wait({playing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if playing.done() and not isinstance(playing.exception(), ConnectionError):
            play.request.done.set()
            return playing.exception() is None and not watching.done() and await _unread(watching)
        play.request.left.set()
        return False
    finally:
        playing.cancel()
        watching.cancel()
        await asyncio.gather(playing, watching, return_exceptions=True)


async def _unread(watching: asyncio.Future[bytes]) -> bool:
    """Whether the watching read has taken nothing of the next request."""
    watching.cancel()
    return isinstance((await asyncio.gather(watching, return_exceptions=True))[0], asyncio.CancelledError)


async def _play_steps(script: Script, play: Play) -> None:
    for step in script:
        await step(play)
    if play.is_chunked:
        await play.wire(b"0\r\n\r\n")


def usage_dict(prompt: int, completion: int, cached: int | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return told if cached is None else told | {"prompt_tokens_details": {"cached_tokens": cached}}


def count(payload: dict[str, Any]) -> int:
    """Prompt tokens as this endpoint counts them: four characters each, and four for every message."""
    return sum(4 + len(str(message.get("content") or "")) // 4 for message in payload.get("messages", []))


def _resolve(future: Future[None]) -> None:
    with suppress(Exception):
        future.set_result(None)


async def _awaited(future: Future[None], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await asyncio.shield(asyncio.wrap_future(future))
