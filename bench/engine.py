"""Compaction on the real demo engine: what its cache serves, how long a person waits, which facts are still there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench import talking
from bench.site import Site, talking_site
from bench.table import Line, median
from bench.talking import Call, Fold

# Window in tokens, longest reply in tokens, asides of a message, turns: over ten compactions, then over five each.
TALKS = ((2_048, 60, 0, 90), (4_096, 80, 12, 40), (8_192, 80, 34, 40))
AFTER_FOLDS = (1, 3, 5, 10)


def measure() -> Iterator[Line]:
    for window, reply, asides, turns in TALKS:
        with talking_site({"max_tokens": reply, "temperature": 0, "seed": 7}, window=window) as site:
            talking.hold(site, turns, asides=asides)
            folds = talking.folds(site)
            yield from _folds(site, folds, f"{window:,}", turns)
            yield from _continuations(folds, f"{window:,}")
            yield from facts(site, folds, f"{window:,}")


def _folds(site: Site, folds: Sequence[Fold], window: str, turns: int) -> Iterator[Line]:
    ended = ", ".join(f"{count} {name}" for name, count in talking.outcomes(site).items())
    yield Line(f"{window}: compactions in {turns} turns", ended, "as recorded")
    for number, fold in enumerate(folds, 1):
        yield _fold(fold, f"{window}, compaction {number}: {fold.row['trigger']}, {fold.row['mode']}")
    for after, which in enumerate(("first", "second", "third")):
        behind = [fold.turns_after[after] for fold in folds if len(fold.turns_after) > after]
        yield from _shares(behind, f"{window}: {which} turn after, cached share")
    yield Line(
        f"{window}: waited for compaction",
        f"{sum(fold.waited for fold in folds):.1f} s",
        f"in {turns} turns, by one who reads and writes for {talking.READING_SECONDS:.0f} s",
    )


def _fold(fold: Fold, what: str) -> Line:
    calls = " + ".join(f"{call.prompt:,} prompt, {call.cached_percent:.0f} % cached" for call in fold.calls)
    turns = " / ".join(f"{turn.cached_percent:.0f} %" for turn in fold.turns_after)
    size = f"{fold.row['tokens_before']:,} → {fold.row['tokens_after']:,} tokens in {fold.seconds:.1f} s"
    warmed = f"warmed {fold.warming.prompt:,}" if fold.warming else "not warmed"
    return Line(what, f"waited {fold.waited:.1f} s", f"{calls}; {size}; {warmed}; next turns cached {turns}")


def _continuations(folds: Sequence[Fold], window: str) -> Iterator[Line]:
    asked = [fold for fold in folds if fold.continuation]
    calls = [fold.continuation for fold in asked if fold.continuation]
    yield from _shares(calls, f"{window}: continuation, cached share of the prompt")
    if not calls:
        return
    before = [100 * fold.calls[0].cached / fold.row["tokens_before"] for fold in asked]
    yield Line(
        f"{window}: continuation, cached share of what was there",
        f"{median(before):.0f} %",
        f"least {min(before):.0f} %: the request before and its reply; the question was not there",
    )
    both = [fold for fold in asked if fold.from_transcript]
    if both:
        computed = [fold.calls[0].computed for fold in both]
        read = [sum(call.computed for call in fold.from_transcript) for fold in both]
        first, second = zip(*map(talking.seconds_of, both), strict=True)
        yield Line(
            f"{window}: computed, continuation / transcript",
            f"{median(computed):,.0f} / {median(read):,.0f} tokens",
            f"median of {len(both)} that were asked both ways, {median(read) / median(computed):.1f} times fewer; "
            f"{median(first):.1f} / {median(second):.1f} s with their answers",
        )


def facts(site: Site, folds: Sequence[Fold], where: str) -> Iterator[Line]:
    """Of what the person said up to a compaction, what the request behind it still holds: record and live messages."""
    for number in AFTER_FOLDS:
        if number <= len(folds):
            asked, values, names = talking.present(site, folds[number - 1].row)
            yield Line(
                f"{where}: facts in the request, compaction {number}",
                f"{len(values)} of {len(asked)} values",
                f"{len(names)} of {len(asked)} names beside them, kept by a summary or a clause",
            )


def _shares(calls: Sequence[Call], what: str) -> Iterator[Line]:
    shares = [call.cached_percent for call in calls]
    if shares:
        yield Line(what, f"{median(shares):.0f} %", f"median of {len(shares)}, least {min(shares):.0f} %")
