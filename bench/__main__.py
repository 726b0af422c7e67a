"""`make bench`, or `python -m bench --only pages tokens`: prints the table; loopback only, temporary data folders."""

from __future__ import annotations

import argparse
from collections.abc import Container

from bench import (
    browser,
    engine,
    exact,
    imports,
    machine,
    pages,
    planning,
    reading,
    retention,
    searching,
    starting,
    tokens,
)
from bench.endpoint import endpoint
from bench.site import Site, filled_site
from bench.table import print_section

SECTIONS = ("start", "tokens", "pages", "browser", "planning", "searching", "exact", "retention", "imports", "engine")
# What needs no server.
ALONE = {
    "planning": {"Planning": planning.measure, "Reading": reading.measure},
    "searching": {"Finding, and the list of chats": searching.measure},
    "exact": {"Exact values": exact.measure},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures Foldline on this machine.")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="leave the others out")
    only = parser.parse_args().only
    print(*machine.heading(), sep="\n")
    if "start" in only:
        print_section("Start and rest", starting.measure())
    if {"tokens", "pages", "browser", "imports"} & set(only):
        with endpoint() as base_url, filled_site(base_url) as site:
            _measure_site(site, base_url, only)
    for section, parts in ALONE.items():
        for title, measure in parts.items() if section in only else ():
            print_section(title, measure())
    if "retention" in only:
        with endpoint() as base_url:
            print_section("Facts kept", retention.measure(base_url))
    if "engine" in only:
        print_section("Compaction on the demo engine", engine.measure())


def _measure_site(site: Site, base_url: str, only: Container[str]) -> None:
    """The import comes last: it changes what the others would meet."""
    if "tokens" in only:
        print_section("Tokens", tokens.measure(site, base_url))
    if "pages" in only:
        print_section("Pages", pages.measure(site))
    if "browser" in only:
        print_section("In a browser", browser.measure(site))
    if "imports" in only:
        print_section("Import", imports.measure(site))


if __name__ == "__main__":
    main()
