"""The events of one reply out of the raw bytes of its stream; no network in here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chatapp.llm.deltas import Event, Finished, ReasoningDelta, TextDelta, ToolCallSeen, UsageSeen
from chatapp.llm.errors import EndpointError, EndpointUnreachable, ReplyTooLarge, StreamBroken
from chatapp.llm.lines import EventLines, LineTooLong, ServerEvent
from chatapp.llm.reasoning import ThinkSplitter
from chatapp.llm.refusals import error_in_stream
from chatapp.llm.usage import usage_of
from chatapp.llm.wording import one_line, words_of
from compaction.transcript import Usage

# More than any model writes in one reply (128,000 tokens are some 500,000 characters).
LONGEST_REPLY_CHARACTERS = 1_000_000
# Without text the bytes must end too: a chunk of one token has some 300 of them.
LONGEST_STREAM_BYTES = 400_000_000

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
SIGNS_OF_LIFE = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})


class ReplyReader:
    """`feed` yields what a piece of the stream brings and raises EndpointError where it is broken; `finish` ends it.

    Attributes: `has_begun` (a first token is here, or the end), `is_whole` (nothing more can come that matters),
    `awaits_only_usage` (a finish reason is here), `bytes_read`, `events_read` (comments and pings aren't any).
    """

    def __init__(self, key: str = "") -> None:
        self._key = key
        self._lines = EventLines()
        self._splitter = ThinkSplitter()
        self._usage: Usage | None = None
        self._finish_reason: str | None = None
        self._characters = 0
        self._has_tool_call = False
        self._has_choices = False
        self._is_done = False
        self.bytes_read = 0
        self.events_read = 0

    @property
    def has_begun(self) -> bool:
        return self._characters > 0 or self._has_tool_call or self._finish_reason is not None

    @property
    def is_whole(self) -> bool:
        return self._is_done

    @property
    def awaits_only_usage(self) -> bool:
        return self._finish_reason is not None

    def feed(self, chunk: bytes) -> Iterator[Event]:
        self.bytes_read += len(chunk)
        try:
            for event in self._lines.feed(chunk):
                yield from self._read(event)
                if self._is_done:
                    return
        except LineTooLong:
            raise ReplyTooLarge("One chunk of the stream was larger than 4 MB.") from None
        if self.bytes_read > LONGEST_STREAM_BYTES:
            raise ReplyTooLarge("The stream did not end.")

    def finish(self, broken: EndpointError | None = None) -> Iterator[Event]:
        """What was held back, and Finished; raises where the stream ended too early (`broken`: why, if known)."""
        if not self._is_done and broken is None:
            yield from self._read_last()
        for part in self._splitter.finish():
            yield from self._write(part)
        if self._usage:
            yield UsageSeen(self._usage)
        self._complain(broken)
        yield Finished(self._finish_reason or "")

    def _complain(self, broken: EndpointError | None) -> None:
        if self._finish_reason is not None and (broken is None or broken.code in {"cut_off", "stalled", "garbled"}):
            return  # whole, whatever became of the connection
        if broken:
            raise broken
        if not self._has_choices:
            raise StreamBroken("empty_reply")
        if not self._is_done:
            raise StreamBroken("cut_off")

    def _read_last(self) -> Iterator[Event]:
        """The last event of a stream that ended without its empty line; half of one means that it was cut off."""
        for event in self._lines.finish():
            try:
                yield from self._read(event)
            except StreamBroken as error:
                if error.code != "garbled":
                    raise

    def _read(self, event: ServerEvent) -> Iterator[Event]:
        if event.data.strip() == b"[DONE]":
            self._is_done = True
            return
        if event.name in SIGNS_OF_LIFE:
            return
        self.events_read += 1
        chunk = self._parse(event)
        if event.name == "error" or (isinstance(chunk, dict) and _is_error(chunk)):
            yield from self._read_choices(chunk)
            raise error_in_stream(chunk, event.data.decode("utf-8", "replace"), self._key)
        if not isinstance(chunk, dict):
            raise StreamBroken("garbled", one_line(str(chunk), self._key))
        self._usage = usage_of(chunk) or self._usage  # the newest wins: each is the count so far, never a part of it
        if event.name not in ("", "message") and "choices" not in chunk and not self._usage:
            raise StreamBroken("error_in_stream", one_line(f"An unknown event: {event.name}", self._key))
        yield from self._read_choices(chunk)

    def _parse(self, event: ServerEvent) -> Any:
        try:
            return json.loads(event.data)
        except (ValueError, RecursionError):  # a UnicodeDecodeError is a ValueError
            words = event.data.decode("utf-8", "replace")
        if event.name == "error":
            return words
        raise StreamBroken("garbled", one_line(words, self._key))

    def _read_choices(self, chunk: Any) -> Iterator[Event]:
        choices = chunk.get("choices") if isinstance(chunk, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or str(choice.get("index") or 0) != "0":
                continue
            self._has_choices = True
            delta = choice.get("delta") or (not self.has_begun and choice.get("message"))
            if isinstance(delta, dict):
                yield from self._read_delta(delta)
            if choice.get("error"):
                raise error_in_stream(choice, words_of(choice), self._key)
            if isinstance(reason := choice.get("finish_reason"), str) and reason:
                self._finish_reason = reason

    def _read_delta(self, delta: dict[str, Any]) -> Iterator[Event]:
        # The same thought often comes under two names at once, so the first that is filled counts.
        if thought := next((words for name in REASONING_FIELDS if (words := _text_of(delta.get(name)))), ""):
            self._splitter.saw_reasoning()
            yield from self._write(ReasoningDelta(thought))
        content = delta.get("content")
        if isinstance(content, list):  # Mistral: parts, some of them thoughts
            for part in content:
                yield from self._read_delta(_as_delta(part))
        elif text := _text_of(content) or _text_of(delta.get("refusal")):
            for piece in self._splitter.feed(text):
                yield from self._write(piece)
        if not self._has_tool_call and (delta.get("tool_calls") or delta.get("function_call")):
            self._has_tool_call = True
            yield ToolCallSeen()

    def _write(self, part: Event) -> Iterator[Event]:
        """Counts what is written; the reply is cut at the cap, and said to be."""
        if not isinstance(part, (TextDelta, ReasoningDelta)):
            yield part
            return
        room = LONGEST_REPLY_CHARACTERS - self._characters
        self._characters += len(part.text)
        if len(part.text) <= room:
            yield part
            return
        if room > 0:
            yield type(part)(part.text[:room])
        raise ReplyTooLarge(f"The reply was longer than {LONGEST_REPLY_CHARACTERS:,} characters.")


def _text_of(value: Any) -> str:
    """Lone surrogates ("\\ud83d" cut from its other half) can be neither stored nor sent."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _as_delta(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"content": part} if isinstance(part, str) else {}
    thinking = part.get("thinking")
    if isinstance(thinking, list):
        thinking = "".join(_text_of(piece.get("text")) for piece in thinking if isinstance(piece, dict))
    return {"thinking": thinking, "content": _text_of(part.get("text"))}


def _is_error(chunk: dict[str, Any]) -> bool:
    if chunk.get("error") or chunk.get("errors") or chunk.get("object") == "error":
        return True
    return "choices" not in chunk and "usage" not in chunk and bool(chunk.get("detail") or chunk.get("message"))


def dropped(detail: str, reader: ReplyReader) -> EndpointError:
    """A connection that ended: before the first byte it was perhaps only stale, afterwards the reply is cut off."""
    return StreamBroken("cut_off", detail) if reader.bytes_read else EndpointUnreachable(detail, dropped=True)
