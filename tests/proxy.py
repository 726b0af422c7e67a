"""A proxy before several web processes: nginx with deploy/nginx.conf where it is installed, else one of our own.

Either asks another process with each request and sets X-Forwarded-For and -Proto itself. Ours can also cut what is
open.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any, Self

from tests.live import ROOT, wait_until_open

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
AROUND = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""
LEFT_TO_US = {b"x-forwarded-for", b"x-forwarded-port", b"x-forwarded-proto"}


def describe() -> str:
    if NGINX is None:
        return "our own proxy (no nginx is installed)"
    told = subprocess.run([NGINX, "-v"], capture_output=True, text=True, check=True)
    return f"{told.stderr.strip().rpartition(' ')[2]} with deploy/nginx.conf"


@contextmanager
def proxy(port: int, upstreams: Sequence[int], folder: Path) -> Iterator[None]:
    """Listens at `port` of the loopback address and passes on to the ports in `upstreams`, until the block ends."""
    with OwnProxy(port, upstreams) if NGINX is None else nginx(port, upstreams, folder):
        yield


@contextmanager
def nginx(port: int, upstreams: Sequence[int], folder: Path) -> Iterator[None]:
    assert NGINX is not None
    folder.mkdir(parents=True)
    (folder / "site.conf").write_text(site(port, upstreams))
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(AROUND.format(user=user, folder=folder))
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with (folder / "nginx.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as running:
        try:
            wait_until_open(port)
            yield
        finally:
            running.terminate()


def site(port: int, upstreams: Sequence[int]) -> str:
    """deploy/nginx.conf with names, ports and certificate of a test; whatever else it says is what is tested."""
    text = (ROOT / "deploy/nginx.conf").read_text()
    servers = "\n".join(f"    server 127.0.0.1:{upstream};" for upstream in upstreams)
    for pattern, ours in (
        (r"(?m)^    server web-a:8000;\n    server web-b:8000;$", servers),
        (r"listen 443 ssl[^;]*;", f"listen 127.0.0.1:{port};"),
        (r"(?m)^ +ssl_certificate.*\n", ""),
        (r"(?ms)^server \{\n    listen 80;.*?^\}$", ""),
        (r"server_name [^;]*;", ""),
    ):
        text, count = re.subn(pattern, ours, text)
        assert count, f"deploy/nginx.conf has nothing like {pattern}"
    return text


class OwnProxy:
    """HTTP/1.1, a connection a request; runs in a thread of its own."""

    def __init__(self, port: int, upstreams: Sequence[int]) -> None:
        self.port = port
        self.count, self.next_port = len(upstreams), cycle(upstreams)
        self.connections: set[asyncio.StreamWriter] = set()
        self.thread = threading.Thread(target=asyncio.run, args=[self._listen()], name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        wait_until_open(self.port)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.is_over.set)
        self.thread.join()

    def cut(self) -> None:
        """Everything that is open now ends, in the middle of whatever it says."""
        self.loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for writer in self.connections:
            writer.transport.abort()

    async def _listen(self) -> None:
        self.loop, self.is_over = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._serve, "127.0.0.1", self.port):
            await self.is_over.wait()
            self._cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            upstream, onward = await self._reach_next()
            self.connections.add(onward)
            onward.write(self._rewritten(head, writer.get_extra_info("peername")[0]))
            await _until_answered(_pump(reader, onward), _pump(upstream, writer))
            self.connections.discard(onward)
            onward.close()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.connections.discard(writer)
            writer.close()

    async def _reach_next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The next process; one that isn't there is passed over."""
        for _ in range(self.count):
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", next(self.next_port))
        raise ConnectionError("no process is there")

    @staticmethod
    def _rewritten(head: bytes, client: str) -> bytes:
        first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        upgrades = any(line.lower().startswith(b"upgrade:") for line in lines)
        dropped = LEFT_TO_US if upgrades else LEFT_TO_US | {b"connection"}
        kept = [line for line in lines if line.partition(b":")[0].lower() not in dropped]
        kept += [b"X-Forwarded-For: " + client.encode(), b"X-Forwarded-Proto: http"]
        return b"\r\n".join([first, *kept, *([] if upgrades else [b"Connection: close"])]) + b"\r\n\r\n"


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


async def _until_answered(upward: Coroutine[Any, Any, None], downward: Coroutine[Any, Any, None]) -> None:
    """The answer's end is the end; the browser may have said all that it has to say long before."""
    up = asyncio.create_task(upward)
    try:
        await downward
    finally:
        up.cancel()
