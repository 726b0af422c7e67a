"""The one plain table: what was measured, the figure, and what is in it; and the samples behind a figure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WHAT, FIGURE = 54, 26


@dataclass(frozen=True, slots=True)
class Line:
    """`samples` are in `unit`; `of` names the product where several are measured in the same way."""

    what: str
    figure: str
    remark: str = ""
    samples: tuple[float, ...] = ()
    unit: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[Line, ...]


def print_section(title: str, lines: Iterable[Line]) -> Section:
    """Each line as soon as it is measured."""
    print(f"\n{title}")
    printed = []
    for line in lines:
        what = ": ".join(filter(None, (line.what, line.of)))
        print(f"  {what:{WHAT}} {line.figure:>{FIGURE}}   {line.remark}".rstrip(), flush=True)
        printed.append(line)
    return Section(title, tuple(printed))


def measured(what: str, samples: Sequence[float], unit: str, remark: str = "", *, of: str = "") -> Line:
    """Median and, of several, the 5th to the 95th percentile."""
    middle, low, high = map(number, (median(samples), p5(samples), p95(samples)))
    figure = f"{middle} {unit} ({low}–{high})" if len(samples) > 1 else f"{middle} {unit}"
    told = f"median (p5–p95) of {len(samples)}" if len(samples) > 1 else ""
    return Line(what, figure, "; ".join(filter(None, (told, remark))), tuple(samples), unit, of)


def timed(what: str, seconds: Sequence[float], remark: str = "", *, of: str = "") -> Line:
    """As `measured`, of seconds, written in milliseconds."""
    return measured(what, [each * 1000 for each in seconds], "ms", remark, of=of)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p5(values: Sequence[float]) -> float:
    """The largest value that 95 % of all are not below."""
    return sorted(values, reverse=True)[math.ceil(0.95 * len(values)) - 1]


def p95(values: Sequence[float]) -> float:
    """The smallest value that 95 % of all are not above."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def number(value: float) -> str:
    """With the digits that can be believed: 1,203 and 85.1 and 0.42."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def both(values: Sequence[float]) -> str:
    """Median and 95th percentile of seconds."""
    return f"{median(values) * 1000:,.1f} / {p95(values) * 1000:,.1f} ms"


def mebibytes(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"


def kilobytes(count: float) -> str:
    return f"{count / 1000:,.1f} kB"
