"""`make soak`: 500 sockets on 100 streams of ten frames a second at one process, then 1,000 that come back in ten.

Fails where anything went wrong; the figures are only printed. Clients, endpoint and server share the machine's cores.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator

from bench import machine
from bench.crowd import Heard, Listener
from bench.endpoint import endpoint, order
from bench.processes import resident_bytes
from bench.site import Site, crowded_site
from bench.table import Line, mebibytes, milliseconds, print_section

PEOPLE, CHATS_EACH, SOCKETS, RATE = 20, 5, 500, 10
STREAMS = PEOPLE * CHATS_EACH
BACK, BACK_SECONDS = 1_000, 10
PATIENCE_SECONDS = 60
TOKEN = "s" * 32


def main() -> int:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    print(*machine.heading(), f"{seconds} s; clients and endpoint on the same cores as the server", sep="\n")
    with endpoint() as base_url, crowded_site(base_url, people=PEOPLE, chats_each=CHATS_EACH) as site:
        soak = Soak(site, seconds)
        asyncio.run(soak.run())
        print_section("Soak", soak.lines())
        if "Traceback" in site.server.output:
            soak.heard.errors.append("the server's log has a traceback")
    print(*dict.fromkeys(soak.heard.errors), sep="\n")
    return bool(soak.heard.errors)


class Soak:
    def __init__(self, site: Site, seconds: int) -> None:
        self.site, self.seconds, self.heard = site, seconds, Heard()
        self.names = list(site.chats)
        self.pages: list[float] = []
        self.memory: list[tuple[float, int]] = []
        self.came_back: list[float] = []
        self.back_seconds = 0.0
        self.tries_again = 0

    async def run(self) -> None:
        listeners = [await self.listener(number) for number in range(SOCKETS)]
        tasks = [asyncio.create_task(each.listen()) for each in listeners]
        await asyncio.gather(*(asyncio.to_thread(self.start_stream, name) for name in self.names))
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            self.memory.append((time.monotonic(), resident_bytes(self.site.pid)))
            await asyncio.to_thread(self.open_page, self.names[len(self.pages) % STREAMS])
            await asyncio.sleep(0.5)
        for each in listeners:
            each.close()
        await asyncio.gather(*tasks)
        await self.come_back()

    async def listener(self, number: int, *, seen: int = 0) -> Listener:
        name, opened = self.names[number % STREAMS], Listener(self.heard)
        path = f"/ws/chats/{self.site.chats[name]}/?seen={seen}"
        await opened.open(self.site.server.port, path, self.cookie(name))
        return opened

    async def come_back(self) -> None:
        """A thousand pages whose server was away, spread over ten seconds as their own pauses spread them."""
        rows = self.site.rows("SELECT id, revision FROM chatapp_chat")
        revisions = {uuid.UUID(row["id"]): row["revision"] for row in rows}
        seen = [revisions[uuid.UUID(self.site.chats[name])] for name in self.names]
        began = time.monotonic()
        at = [began + number * BACK_SECONDS / BACK for number in range(BACK)]
        found = await asyncio.gather(
            *(self.come_back_at(at[number], number, seen=seen[number % STREAMS]) for number in range(BACK))
        )
        self.back_seconds = time.monotonic() - began
        for each in found:
            if each:
                each.close()

    async def come_back_at(self, at: float, number: int, *, seen: int) -> Listener | None:
        """As a page does: it tries again after a pause that grows, and has seen what there was."""
        await asyncio.sleep(at - time.monotonic())
        pause = 1.0
        while time.monotonic() - at < PATIENCE_SECONDS:
            try:
                opened = await self.listener(number, seen=seen)
            except (OSError, EOFError):
                self.tries_again += 1
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(2 * pause, 15)
            else:
                self.came_back.append(time.monotonic() - at)
                return opened
        self.heard.errors.append(f"coming back: not in {PATIENCE_SECONDS} s")
        return None

    def cookie(self, name: str) -> str:
        return f"sessionid={self.site.sessions[name]}; csrftoken={TOKEN}"

    def start_stream(self, name: str) -> None:
        text = order(self.seconds * RATE, rate=RATE)
        fields = {"text": text, "idempotency_key": uuid.uuid4().hex, "csrfmiddlewaretoken": TOKEN}
        self.ask(name, "send/", urllib.parse.urlencode(fields).encode())

    def open_page(self, name: str) -> None:
        began = time.monotonic()
        self.ask(name)
        self.pages.append(time.monotonic() - began)

    def ask(self, name: str, command: str = "", body: bytes | None = None) -> None:
        url = f"http://127.0.0.1:{self.site.server.port}"
        path = f"/chats/{self.site.chats[name]}/{command}"
        headers = {"Cookie": self.cookie(name), "Origin": url, "HX-Request": "true" if body else "false"}
        try:
            with urllib.request.urlopen(urllib.request.Request(url + path, body, headers), timeout=60) as answer:
                answer.read()
        except OSError as error:
            self.heard.errors.append(f"{command or 'page'}: {error}")

    def lines(self) -> Iterator[Line]:
        frames, back = self.heard.delays or [0.0], self.came_back or [0.0]
        a_second = f"{self.heard.frames / self.seconds:,.0f}"
        first, last = (mebibytes(size) for _, size in (self.memory[0], self.memory[-1]))
        yield Line("frames a second, all sockets", a_second, f"{SOCKETS * RATE:,} wanted")
        yield Line("from a token to its page", three(frames), "median / p95 / p99; a frame may wait for 100 ms")
        yield Line("a page meanwhile", three(self.pages), f"median / p95 / p99 of {len(self.pages)}")
        yield Line("memory of the web process", last, f"{first} at first")
        yield Line("its slope, after the first third", f"{self.slope():+.1f} MiB a minute", "the texts grow, too")
        told = f"over {BACK_SECONDS} s; each {three(back)}, {self.tries_again} tries more"
        yield Line(f"{BACK:,} that come back", f"{self.back_seconds:.1f} s", told)
        yield Line("errors", str(len(self.heard.errors)), "0 wanted")

    def slope(self) -> float:
        """MiB a minute, by least squares."""
        later = self.memory[len(self.memory) // 3 :]
        times, sizes = [at / 60 for at, _ in later], [size / 2**20 for _, size in later]
        return statistics.linear_regression(times, sizes).slope if len(later) > 1 else 0.0


def three(values: list[float]) -> str:
    ordered = sorted(values)
    chosen = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 0.99))
    return " / ".join(milliseconds(value).removesuffix(" ms") for value in chosen) + " ms"


if __name__ == "__main__":
    sys.exit(main())
