"""Compaction on the real demo engine: what its cache serves, how long a person waits, which facts are still there."""

from __future__ import annotations

from collections.abc import Iterator

from bench import talking
from bench.site import Site, talking_site
from bench.table import Line, median
from bench.talking import Fold

TURNS = 40
# Window in tokens, and the longest reply in tokens: at least five compactions in so many turns.
TALKS = ((2_048, 60), (4_096, 170))


def measure() -> Iterator[Line]:
    for window, reply in TALKS:
        with talking_site({"max_tokens": reply, "temperature": 0, "seed": 7}, LOCAL_MODEL_CONTEXT=str(window)) as site:
            talking.hold(site, TURNS)
            yield from _report(site, f"window {window:,}")


def _report(site: Site, where: str) -> Iterator[Line]:
    folds = talking.folds(site)
    ended = ", ".join(f"{count} {name}" for name, count in talking.outcomes(site).items())
    yield Line(f"{where}: compactions in {TURNS} turns", ended, "as recorded")
    for number, fold in enumerate(folds, 1):
        yield _fold(fold, f"{where}, fold {number}: {fold.row['trigger']}, {fold.row['mode']}")
    continued = [fold.calls[0] for fold in folds if fold.row["mode"] == "continuation"]
    if continued:
        yield Line(
            f"{where}: continuations, cached share of the prompt",
            f"{median([call.cached_percent for call in continued]):.0f} %",
            f"median of {len(continued)}, least {min(call.cached_percent for call in continued):.0f} %; the rest "
            f"is the question, {max(call.computed for call in continued)} tokens at most",
        )
    for after in range(3):
        shares = [fold.turns_after[after].cached_percent for fold in folds if len(fold.turns_after) > after]
        if shares:
            remark = f"median of {len(shares)}, least {min(shares):.0f} %"
            yield Line(f"{where}: turn {after + 1} after, cached share", f"{median(shares):.0f} %", remark)
    yield Line(f"{where}: waited for compaction", f"{sum(fold.waited for fold in folds):.1f} s", "in all turns")


def _fold(fold: Fold, what: str) -> Line:
    calls = " + ".join(f"{call.prompt:,} prompt, {call.cached_percent:.0f} % cached" for call in fold.calls)
    turns = " / ".join(f"{turn.cached_percent:.0f} %" for turn in fold.turns_after)
    size = f"{fold.row['tokens_before']:,} → {fold.row['tokens_after']:,} tokens in {fold.seconds:.1f} s"
    warmed = f"warmed {fold.warming.prompt:,}" if fold.warming else "not warmed"
    return Line(what, f"waited {fold.waited:.1f} s", f"{calls}; {size}; {warmed}; next turns cached {turns}")
