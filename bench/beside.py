"""Foldline beside what people would use instead: the same endpoint, the same Chromium, the same driver, in one run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bench.driving import NoBrowser, Product, Running, Window, chromium
from bench.peers import NotInstalled
from bench.processes import children, cpu_seconds, resident_bytes, wait_until_quiet
from bench.products import FOLDLINE, PEERS
from bench.size import sized
from bench.table import Line, measured, timed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OPENED = sized(5, 2)
TURNS, TURN, RATE = sized(15, 5), 30, 100
STREAMS, STREAM = sized(3, 1), sized(1_000, 300)
# Until a page has done what it does behind a reply.
PAUSE_SECONDS = 0.5


def measure(base_url: str) -> Iterator[Line]:
    try:
        with chromium() as browser:
            for product in (FOLDLINE, *PEERS) if os.environ.get("PEERS") != "no" else (FOLDLINE,):
                yield from _product(browser, product, base_url)
    except NoBrowser as error:
        yield Line("side by side", "left out", str(error))
    if os.environ.get("PEERS") == "no":
        yield Line("other products", "left out", "PEERS=no")


def _product(browser: Browser, product: Product, base_url: str) -> Iterator[Line]:
    """Whatever goes wrong with a peer, the others are still measured."""
    try:
        with product.serve(base_url) as running:
            yield from _rest(product, running)
            yield from _opening(browser, product, running)
            yield from _talk(browser, product, running)
    except NotInstalled as error:
        yield Line("left out", "", str(error), of=product.name)
    except Exception as error:  # other people's programs fail in their own ways
        if product is FOLDLINE:
            raise
        yield Line("left out", "", f"{type(error).__name__}: {str(error).strip().splitlines()[0]}", of=product.name)


def _rest(product: Product, running: Running) -> Iterator[Line]:
    yield measured(
        "start to the first page, second time", [running.start_seconds], "s", product.version, of=product.name
    )
    family = [running.pid, *children(running.pid)]
    wait_until_quiet(*family)
    resident = sum(map(resident_bytes, family)) / 2**20
    remark = "resident, with the model" if product.computes else "resident, all its processes"
    yield measured("memory at rest", [resident], "MiB", remark, of=product.name)


def _opening(browser: Browser, product: Product, running: Running) -> Iterator[Line]:
    seconds, sizes, requests = [], [], []
    for _ in range(OPENED):
        window = Window(browser, product, running)
        seconds.append(window.open())
        sizes.append(window.bytes_read / 1000)
        requests.append(window.requests)
        window.close()
    yield timed("page opened, nothing cached", seconds, "until one can write", of=product.name)
    yield measured("bytes of the page", sizes, "kB", f"on the wire, {max(requests)} requests", of=product.name)


def _talk(browser: Browser, product: Product, running: Running) -> Iterator[Line]:
    window = Window(browser, product, running)
    window.open()
    window.dismiss()
    window.send(TURN, rate=RATE)  # whatever happens only once; the page may be another one afterwards
    window.wait_for_end(TURN)
    time.sleep(PAUSE_SECONDS)
    painted = [_turn(window, TURN) for _ in range(TURNS)]
    yield timed("Enter to the first painted character", painted, "the endpoint writes at once", of=product.name)
    server, page = zip(*(_stream(window) for _ in range(STREAMS)), strict=True)
    speed = f"{STREAM:,} tokens at {RATE} a second"
    if product.computes:
        yield Line("processor a token, server", "none", "the page reads the engine itself", of=product.name)
    else:
        yield measured("processor a token, server", server, "µs", speed, of=product.name)
    yield measured("processor a token, page's main thread", page, "µs", speed, of=product.name)
    window.close()


def _turn(window: Window, tokens: int) -> float:
    """Seconds to the first painted character, at the end of the whole reply."""
    window.send(tokens, rate=RATE)
    painted = window.first_painted()
    window.wait_for_end(tokens)
    time.sleep(PAUSE_SECONDS)
    return painted


def _stream(window: Window) -> tuple[float, float]:
    """Microseconds a token, of the server's processes and of the page's main thread."""
    server, page = _server_seconds(window.running.pid), window.main_thread_seconds()
    _turn(window, STREAM)
    server, page = _server_seconds(window.running.pid) - server, window.main_thread_seconds() - page
    return server / STREAM * 1e6, page / STREAM * 1e6


def _server_seconds(pid: int) -> float:
    return sum(map(cpu_seconds, (pid, *children(pid))))
