"""Estimates of tokens where nothing was measured (rule A4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from compaction.transcript import Image, ToolCall

MESSAGE_TOKENS = 4
TOOL_CALL_TOKENS = 8
IMAGE_TOKENS = 1_000

# A longer text is judged by evenly spread slices, so that no paste costs more than milliseconds.
SAMPLED_FROM = 131_072
SLICE, SLICES = 2_048, 48

# Texts whose estimate is remembered; all of them are forgotten when they become more (some 15 MB).
MOST_KNOWN = 131_072

# What the common byte-pair vocabularies make one token of, nearly: up to seven letters of a word, three capitals,
# three digits, two marks, a line break with its indent, a run of blanks.
LATIN = re.compile(
    r"_?[A-Z]?[a-zß-öø-ɏḁ-ỿ]{1,7}|[A-ZÀ-ÞḀ-Ỿ]{1,2}|[0-9]{1,3}|[!-/:-@\[-`{-~¡-¿×÷]{1,3}\n?"
    r"|\n\s{0,60}|[^\S\n]{2,60}|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
NOT_LATIN = re.compile(r"[^\x00-ɏḀ-ỿ\s]+")
CJK = re.compile(
    "[\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]+"
)
PICTURES = re.compile("[\u200d\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+")
CYRILLIC = re.compile("[\u0400-\u052f]+")
# One character for all that LATIN makes no difference between.
WHITE, UNCOUNTABLE = b"\t\x0b", 1 << 40
LONGEST_SHAPE, MOST_SHAPES = 16, 16_384
KINDS = bytes(
    ord("a" if chr(code).islower() else "A" if chr(code).isupper() else "0" if chr(code).isdigit() else chr(code))
    if chr(code).isalnum() or chr(code) in "_ \n\t"
    else ord("\x0b" if chr(code).isspace() else "!" if chr(code).isprintable() else "\x00")
    for code in range(128)
) + bytes(128)

# Tokens a character, between what cl100k_base and o200k_base count on the texts of the tests.
CJK_RATE, PICTURE_RATE, CYRILLIC_RATE, OTHER_RATE = 0.9, 1.9, 0.38, 0.58


class Countable(Protocol):
    @property
    def content(self) -> str: ...
    @property
    def tool_calls(self) -> tuple[ToolCall, ...]: ...
    @property
    def images(self) -> tuple[Image, ...]: ...


def estimate_text(text: str) -> int:
    """Remembered by the text's hash, which Python keys anew in every process: no text is counted at each look."""
    key = hash(text)
    if (known := _known.get(key)) is not None:
        return known
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    return _known.setdefault(key, _estimate(text))


def _estimate(text: str) -> int:
    if len(text) <= SAMPLED_FROM:
        return _count(text)
    step = (len(text) - SLICE) / (SLICES - 1)
    counted = sum(_count(text[int(n * step) : int(n * step) + SLICE]) for n in range(SLICES))
    return round(counted * len(text) / (SLICE * SLICES))


def estimate_message(message: Countable) -> int:
    """Content, tool calls by name and arguments, a flat number an image, and the wrapping of the message itself."""
    tokens = MESSAGE_TOKENS + estimate_text(message.content)
    for call in message.tool_calls:
        tokens += TOOL_CALL_TOKENS + estimate_text(call.name) + estimate_text(call.arguments)
    return tokens + len(message.images) * IMAGE_TOKENS


def estimate_request(messages: Iterable[Countable]) -> int:
    return sum(estimate_message(message) for message in messages)


def _count(text: str) -> int:
    if text.isascii():
        return _count_ascii(text)
    tokens = float(len(LATIN.findall(text)))
    rest = "".join(NOT_LATIN.findall(text))
    tokens += len(rest) * OTHER_RATE
    for kind, rate in ((CJK, CJK_RATE), (PICTURES, PICTURE_RATE), (CYRILLIC, CYRILLIC_RATE)):
        tokens += len("".join(kind.findall(rest))) * (rate - OTHER_RATE)
    return round(tokens)


def _count_ascii(text: str) -> int:
    """By the shape of what stands between blanks: "Boats," is counted once for all words of its kind.

    A blank alone is no token and ends every other. Beside other white space it may be a part of one: then all is
    counted at once.
    """
    shapes = text.encode().translate(KINDS).removesuffix(b" ").split(b" ")
    counted = sum(map(_shapes.__getitem__, shapes)) if text else 0
    return counted if counted < UNCOUNTABLE else len(LATIN.findall(text))


class _Shapes(dict[bytes, int]):
    """Tokens of a shape, found when it first comes; there are few, and the longer ones aren't kept."""

    def __missing__(self, shape: bytes) -> int:
        is_apart = shape and shape[:1] not in WHITE and shape[-1:] not in WHITE + b"\n"
        tokens = len(LATIN.findall(shape.decode())) if is_apart else UNCOUNTABLE
        if len(shape) <= LONGEST_SHAPE and len(self) < MOST_SHAPES:
            self[shape] = tokens
        return tokens


_shapes = _Shapes()
_known: dict[int, int] = {}
