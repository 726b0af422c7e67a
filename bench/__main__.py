"""`make bench`, or `python -m bench --only pages tokens`: prints the table; loopback only, temporary data folders."""

from __future__ import annotations

import argparse
import os
from collections.abc import Container, Iterator

from bench import (
    beside,
    browser,
    engine,
    exact,
    imports,
    machine,
    pages,
    planning,
    reading,
    results,
    retention,
    searching,
    standing,
    starting,
    tokens,
    warming,
)
from bench.endpoint import endpoint
from bench.site import Site, filled_site
from bench.size import QUICK
from bench.table import Section, print_section
from tests.live import ROOT

SECTIONS = (
    *("start", "sockets", "tokens", "pages", "browser", "beside", "planning", "searching", "exact", "warming"),
    *("retention", "imports", "engine"),
)
# These take minutes whatever their size.
NOT_QUICK = ("retention", "imports", "engine")
# What needs no server.
ALONE = {
    "planning": {"Planning": planning.measure, "Reading": reading.measure},
    "searching": {"Finding, and the list of chats": searching.measure},
    "exact": {"Exact values": exact.measure},
}


def main() -> None:
    usual = [section for section in SECTIONS if not (QUICK and section in NOT_QUICK)]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures Foldline on this machine.")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=usual, help="leave the others out")
    only = parser.parse_args().only
    print(*machine.heading(), sep="\n")
    if QUICK:
        print("Quick: fewer samples, smaller sizes; left out unless asked for:", ", ".join(NOT_QUICK))
    run = results.Run(QUICK)
    for section in _measure(only):
        run.sections.append(section)
        kept = results.write(run)  # after each, so that a run that is broken off leaves what it has
    page = results.draw(kept)
    print(f"\nLoad after {os.getloadavg()[0]:.1f}. Written: {kept.relative_to(ROOT)}, {page.relative_to(ROOT)}")


def _measure(only: Container[str]) -> Iterator[Section]:
    if "start" in only:
        yield print_section("Start and rest", starting.measure())
    if "sockets" in only:
        yield print_section("Open pages", standing.measure())
    if {"tokens", "pages", "browser", "imports"} & set(only):
        with endpoint() as base_url, filled_site(base_url) as site:
            yield from _measure_site(site, base_url, only)
    if "beside" in only:
        with endpoint() as base_url:
            yield print_section("Side by side", beside.measure(base_url))
    for section, parts in ALONE.items():
        for title, measure in parts.items() if section in only else ():
            yield print_section(title, measure())
    if "warming" in only:
        yield print_section("The turn after a compaction", warming.measure())
    if "retention" in only:
        with endpoint() as base_url:
            yield print_section("Facts kept", retention.measure(base_url))
    if "engine" in only:
        yield print_section("Compaction on the demo engine", engine.measure())


def _measure_site(site: Site, base_url: str, only: Container[str]) -> Iterator[Section]:
    """The import comes last: it changes what the others would meet."""
    if "tokens" in only:
        yield print_section("Tokens", tokens.measure(site, base_url))
    if "pages" in only:
        yield print_section("Pages", pages.measure(site))
    if "browser" in only:
        yield print_section("In a browser", browser.measure(site))
    if "imports" in only:
        yield print_section("Import", imports.measure(site))


if __name__ == "__main__":
    main()
