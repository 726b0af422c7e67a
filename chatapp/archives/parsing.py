"""One chat's bytes to plain values: quickly by the standard library, without recursion where it nests deeply."""

from __future__ import annotations

import io
import json
import math
from typing import Any, NoReturn

import ijson

# A reply to a reply is two levels deeper in some exports, so a long talk nests by thousands.
DEEPEST = 20_000
# Two bytes of list or object are seventy and more once they are parsed. A chat of 100,000 messages has a million.
MOST_CONTAINERS = 4_000_000


class Unparsable(Exception):
    """malformed, too_deep, chat_too_large"""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def parse(data: bytes) -> Any:
    """Raises Unparsable. NaN and the infinities aren't JSON, and PostgreSQL wouldn't store them."""
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS:
        raise Unparsable("chat_too_large")
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        return _parse_deep(data)
    except ValueError as error:
        raise Unparsable("malformed") from error


def _parse_deep(data: bytes) -> Any:
    """Event by event, onto a list of the containers that are open."""
    top: list[Any] = []
    open_containers: list[Any] = [top]
    keys: list[str] = []
    try:
        for event, value in ijson.basic_parse(io.BytesIO(data), use_float=True):
            if event == "map_key":
                keys.append(value)
            elif event in {"end_map", "end_array"}:
                open_containers.pop()
            else:
                made: Any = {} if event == "start_map" else [] if event == "start_array" else value
                inside = open_containers[-1]
                if isinstance(inside, dict):
                    inside[keys.pop()] = made
                else:
                    inside.append(made)
                if event in {"start_map", "start_array"}:
                    if len(open_containers) > DEEPEST:
                        raise Unparsable("too_deep")
                    open_containers.append(made)
    except (ijson.JSONError, ValueError, SystemError) as error:
        raise Unparsable("malformed") from error
    return top[0]


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
