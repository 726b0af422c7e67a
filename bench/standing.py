"""What a page that is merely open costs the server: memory and processor time of a socket."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle, islice

from bench.endpoint import endpoint
from bench.processes import cpu_seconds, resident_bytes, wait_until_quiet
from bench.site import Site, crowded_site
from bench.size import sized
from bench.sockets import PageSocket
from bench.table import Line, measured

PEOPLE, CHATS_EACH = 20, 5
# The first ones bring along what is made once.
FIRST, MORE = 50, sized(500, 150)
SECONDS = sized(10, 5)


def measure() -> Iterator[Line]:
    with (
        endpoint() as base_url,
        crowded_site(base_url, people=PEOPLE, chats_each=CHATS_EACH) as site,
        ExitStack() as opened,
    ):
        for name in islice(cycle(site.chats), FIRST):
            opened.enter_context(_listening(site, name))
        before = _resting_bytes(site)
        for name in islice(cycle(site.chats), MORE):
            opened.enter_context(_listening(site, name))
        grown = _resting_bytes(site) - before
        yield measured("memory of an open socket", [grown / MORE / 1000], "kB", f"resident, over {MORE} more sockets")
        used = cpu_seconds(site.pid)
        time.sleep(SECONDS)
        used = (cpu_seconds(site.pid) - used) / SECONDS
        yield Line(f"processor with {FIRST + MORE} open pages", f"{used:.2%}", f"of one core, over {SECONDS} s of rest")


def _listening(site: Site, name: str) -> PageSocket:
    return PageSocket(site.server.port, f"/ws/chats/{site.chats[name]}/", f"sessionid={site.sessions[name]}")


def _resting_bytes(site: Site) -> int:
    wait_until_quiet(site.pid)
    return resident_bytes(site.pid)
