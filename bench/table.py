"""The one plain table: what was measured, the figure, and what is in it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WHAT, FIGURE = 54, 22


@dataclass(frozen=True, slots=True)
class Line:
    what: str
    figure: str
    remark: str = ""


def print_section(title: str, lines: Iterable[Line]) -> None:
    """Each line as soon as it is measured."""
    print(f"\n{title}")
    for line in lines:
        print(f"  {line.what:{WHAT}} {line.figure:>{FIGURE}}   {line.remark}".rstrip(), flush=True)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    """The smallest value that 95 % of all are not above."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def both(values: Sequence[float]) -> str:
    """Median and 95th percentile of seconds."""
    return f"{median(values) * 1000:,.1f} / {p95(values) * 1000:,.1f} ms"


def mebibytes(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"


def kilobytes(count: float) -> str:
    return f"{count / 1000:,.1f} kB"
