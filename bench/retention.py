"""Facts behind many compactions whose summaries keep nothing: what the exact values alone save (rules H)."""

from __future__ import annotations

from collections.abc import Iterator

from bench import talking
from bench.engine import AFTER_FOLDS, facts
from bench.site import talking_site
from bench.table import Line

WINDOW = 8_192
MOST_TURNS, TURNS_AT_ONCE = 200, 10


def measure(base_url: str) -> Iterator[Line]:
    with talking_site({"temperature": 0}, window=WINDOW, base_url=base_url) as site:
        for first in range(0, MOST_TURNS, TURNS_AT_ONCE):
            talking.hold(site, TURNS_AT_ONCE, first=first)
            folds = talking.folds(site)
            if len(folds) >= AFTER_FOLDS[-1]:
                break
        yield from facts(site, folds, f"{WINDOW:,}, a summariser that keeps none")
