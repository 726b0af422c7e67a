"""How soon the turn of a compaction begins on the demo engine, beside an ordinary one: warmed or not, idle or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench import talking
from bench.site import Site, talking_site
from bench.size import sized
from bench.table import Line, median, timed
from bench.talking import Asked, Fold, when

WINDOW, REPLY = 2_048, 60
TURNS = sized(28, 9)
# What the settings say: compact in the idle moment, warm the prompt behind it.
WAYS = {"idle, warmed": (True, True), "idle, not warmed": (True, False), "before the send": (False, False)}
WANTED_RATIO = 1.2


def measure() -> Iterator[Line]:
    for name, (is_idle, is_warmed) in WAYS.items():
        with talking_site({"max_tokens": REPLY, "temperature": 0, "seed": 7}, window=WINDOW) as site:
            _settle(site, is_idle=is_idle, is_warmed=is_warmed)
            asked = talking.hold(site, TURNS)
            yield from _way(name, asked, talking.folds(site))


def _settle(site: Site, *, is_idle: bool, is_warmed: bool) -> None:
    site.get("talk")  # the one row of settings is made when it is first read
    site.change_row(f"UPDATE chatapp_sitesettings SET compacts_when_idle = {is_idle}, warms_prompt = {is_warmed}")


def _way(name: str, asked: Sequence[Asked], folds: Sequence[Fold]) -> Iterator[Line]:
    """The first turn of all reads what no other does, and is neither."""
    after = [_next(asked, fold) for fold in folds]
    behind = [turn.first_seconds for turn in after if turn]
    ordinary = [turn.first_seconds for turn in asked[1:] if turn not in after]
    if not (behind and ordinary):
        yield Line(f"{name}: no compaction in {len(asked)} turns", "")
        return
    yield timed(f"{name}: first of the reply, ordinary turn", ordinary, f"window {WINDOW:,}, {REPLY} tokens a reply")
    yield timed(f"{name}: first of the reply, turn of a compaction", behind, "the first one sent behind its beginning")
    ratio = median(behind) / median(ordinary)
    yield Line(f"{name}: ratio", f"{ratio:.2f}", f"wanted: {WANTED_RATIO} at most, idle and warmed")
    waited = [fold.waited for fold in folds]
    yield Line(f"{name}: waited for compaction", f"{sum(waited):.1f} s", f"in {len(asked)} turns, {len(folds)} of them")


def _next(asked: Sequence[Asked], fold: Fold) -> Asked | None:
    """The turn that waited for a compaction, or else the first one after its end."""
    begin, end = when(fold.row["started_at"]), when(fold.row["ended_at"])
    waiting = [turn for turn in asked if turn.at < begin] if fold.row["trigger"] != "idle" else []
    return waiting[-1] if waiting else next((turn for turn in asked if turn.at > end), None)
