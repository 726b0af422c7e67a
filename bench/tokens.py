"""What Foldline adds to the first token and to each token, against reading the scripted endpoint directly."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass

from bench.endpoint import now, order, stamps
from bench.processes import cpu_seconds
from bench.site import Site
from bench.size import sized
from bench.sockets import PageSocket
from bench.table import Line, kilobytes, measured, median, milliseconds, timed

SAMPLES = sized(30, 9)
SHORT = order(30, rate=100)
TOKENS, RATE = sized(2_000, 500), 100
LONG = order(TOKENS, rate=RATE)
# Both ways begin once the other's last work is over; a title is asked for after the first reply only.
PAUSE_SECONDS = 0.2
REPLY_ENDED = b'data-role="assistant" data-status="complete"'


@dataclass(frozen=True, slots=True)
class First:
    """Seconds from the post to the moment the endpoint writes its first token, and from there to the reader."""

    until_written: float
    until_read: float

    @property
    def whole(self) -> float:
        return self.until_written + self.until_read


def measure(site: Site, base_url: str) -> Iterator[Line]:
    yield from first_token(site, base_url, "short", "short chat", samples=SAMPLES)
    yield from first_token(site, base_url, "long", "2,000 live messages", samples=SAMPLES // 3)
    yield from each_token(site, base_url)


def first_token(site: Site, base_url: str, chat: str, where: str, *, samples: int) -> Iterator[Line]:
    direct, foldline, cpu = [], [], []
    with site.open(chat) as page:
        through_foldline(site, page, chat)  # whatever happens only once
        for _ in range(samples):
            direct.append(directly(base_url))
            before = cpu_seconds(site.pid)
            foldline.append(through_foldline(site, page, chat))
            cpu.append(cpu_seconds(site.pid) - before)
    yield timed(
        f"first token, {where}: read directly",
        [first.whole for first in direct],
        "alternating; from post to first token",
    )
    yield timed(
        f"first token, {where}: in Foldline",
        [first.whole for first in foldline],
        "from post to first token at the page's socket",
    )
    added = [mine.whole - theirs.whole for mine, theirs in zip(foldline, direct, strict=True)]
    asked = median([first.until_written for first in foldline]) - median([first.until_written for first in direct])
    shown = median([first.until_read for first in foldline]) - median([first.until_read for first in direct])
    yield timed(
        f"first token, {where}: added",
        added,
        f"{milliseconds(asked)} until it is written, {milliseconds(shown)} from there; goal: 10 ms",
    )
    yield timed(f"processor a turn, {where}", cpu, "all of the server from before the post to the end of 30 tokens")


def directly(base_url: str) -> First:
    time.sleep(PAUSE_SECONDS)
    began = now()
    connection, response = _ask(base_url, SHORT)
    read = b""
    while not (written := stamps(read)):
        read += response.read1()
    ended = now()
    connection.close()
    return First(written[0] - began, ended - written[0])


def through_foldline(site: Site, page: PageSocket, chat: str) -> First:
    time.sleep(PAUSE_SECONDS)
    began = now()
    site.post_send(chat, SHORT, seen=page.seen)
    while not (written := [stamp for stamp in stamps(page.next()) if stamp > began]):
        pass
    ended = now()
    site.end_send()
    _listen_to_end(page)
    return First(written[0] - began, ended - written[0])


def each_token(site: Site, base_url: str) -> Iterator[Line]:
    speed = f"{TOKENS:,} tokens at {RATE} a second"
    own = _read_directly(base_url)
    yield measured(
        "processor a token: read directly", [own], "µs", "of this program: lines read and parsed, nothing else"
    )
    with site.open("streamed") as page:
        through_foldline(site, page, "streamed")  # so that the title is no part of it
        time.sleep(PAUSE_SECONDS)
        delays, cpu, frames, received = _listen(site, page)
    yield measured(
        "processor a token: Foldline, one page listening",
        [cpu / TOKENS * 1e6],
        "µs",
        f"all of the server, post to end: {speed}, {frames} frames of {kilobytes(received / frames)}",
    )
    yield timed("a token's way from endpoint to page", delays, "frames come ten a second")
    time.sleep(2)  # until the server has noticed that the page is gone
    before = cpu_seconds(site.pid)
    site.post_send("streamed", LONG, seen=page.seen)
    site.end_send()
    site.wait_until_written()
    time.sleep(PAUSE_SECONDS)
    cpu = cpu_seconds(site.pid) - before
    yield measured(
        "processor a token: Foldline, no page listening", [cpu / TOKENS * 1e6], "µs", "the same without frames"
    )


def _listen(site: Site, page: PageSocket) -> tuple[list[float], float, int, int]:
    """Delays of the stamped tokens, the server's processor seconds, frames and bytes."""
    delays: list[float] = []
    frames, received, newest, before = page.frames, page.bytes_read, now(), cpu_seconds(site.pid)
    site.post_send("streamed", LONG, seen=page.seen)
    while REPLY_ENDED not in (text := page.next()):
        fresh = [stamp for stamp in stamps(text) if stamp > newest]
        delays += [now() - stamp for stamp in fresh]
        newest = max([newest, *fresh])
    site.end_send()
    time.sleep(PAUSE_SECONDS)
    return delays, cpu_seconds(site.pid) - before, page.frames - frames, page.bytes_read - received


def _listen_to_end(page: PageSocket) -> None:
    while REPLY_ENDED not in page.next():
        pass


def _read_directly(base_url: str) -> float:
    """Microseconds a token of reading and parsing in this very process."""
    connection, response = _ask(base_url, order(TOKENS // 4, rate=RATE))
    before, read = time.process_time(), 0
    while line := response.readline():
        if line.startswith(b"data: {"):
            read += bool(json.loads(line[6:])["choices"])
    connection.close()
    return (time.process_time() - before) / read * 1e6


def _ask(base_url: str, text: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    address = urllib.parse.urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": text}]}
    connection.request(
        "POST", f"{address.path}/chat/completions", json.dumps(body), {"Content-Type": "application/json"}
    )
    return connection, connection.getresponse()
