"""The import of another program's 10,000 chats: seconds, memory of the process, and how quick a page is meanwhile."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.parse
from collections.abc import Iterator

from bench.processes import resident_bytes
from bench.site import Site
from bench.table import Line, both, mebibytes
from tests.foreign_exports import as_json, as_zip, chatgpt, chatgpt_node

CHATS, TURNS = 10_000, 6
PART = 2 * 1024 * 1024
WORDS = "The dough wants warmth and time, and in winter a warm place near the stove. "


def measure(site: Site) -> Iterator[Line]:
    data = export()
    site.get("short")
    quiet = [site.get("short")[2] for _ in range(20)]
    before = peak = resident_bytes(site.pid)
    page = _send(site, data)
    began, seconds = time.perf_counter(), []
    while _is_open(site, page):
        seconds.append(site.get("short")[2])
        peak = max(peak, resident_bytes(site.pid))
        time.sleep(0.05)
    took = time.perf_counter() - began
    [told] = site.rows("SELECT imported, known, left_out FROM chatapp_import")
    assert tuple(told) == (CHATS, 0, 0), tuple(told)
    what = f"{CHATS:,} chats of {2 * TURNS} messages, ZIP of {mebibytes(len(data))}"
    yield Line("import", f"{took:,.0f} s", f"{what}; {CHATS / took:,.0f} chats a second")
    yield Line(
        "a page of 20 messages meanwhile",
        both(seconds),
        f"median / p95 of {len(seconds)}; longest {max(seconds) * 1000:,.0f} ms",
    )
    yield Line("the same before", both(quiet), "")
    yield Line("memory of the web process", f"{mebibytes(peak)}", f"at most; {mebibytes(before)} before")


def export() -> bytes:
    """Ten files of a thousand, as ChatGPT cuts them."""
    files = {}
    for part in range(10):
        chats = [_chat(part * CHATS // 10 + number) for number in range(CHATS // 10)]
        files[f"conversations-{part:03d}.json"] = as_json(chats)
    return as_zip(files)


def _chat(number: int) -> dict[str, object]:
    nodes, before = {}, "ctx"
    for turn in range(TURNS):
        nodes[f"u{turn}"] = chatgpt_node(before, "user", f"Question {turn} of {number}?")
        said = WORDS * (1 + (number + turn) % 12)
        nodes[f"a{turn}"] = chatgpt_node(f"u{turn}", "assistant", said, metadata={"model_slug": "gpt-4o"})
        before = f"a{turn}"
    return chatgpt(nodes, name=f"c{number}", title=f"Talk {number}", current_node=before)


def _send(site: Site, data: bytes) -> str:
    """In parts, as the page's script does."""
    token = _token(site)
    headers = {"Cookie": f"sessionid={site.session}; csrftoken={token}", "X-CSRFToken": token}
    form = urllib.parse.urlencode({"name": "export.zip", "size": len(data)})
    told = json.loads(_post(site, "/import/", form, {**headers, "Content-Type": "application/x-www-form-urlencoded"}))
    for at in range(0, len(data), PART):
        _post(site, f"{told['part']}?at={at}", data[at : at + PART], headers)
    return str(told["page"])


def _token(site: Site) -> str:
    response, _ = _get(site, "/import/")
    found = re.search(r"csrftoken=(\w+)", response.headers["Set-Cookie"] or "")
    assert found
    return found[1]


def _get(site: Site, address: str) -> tuple[http.client.HTTPResponse, bytes]:
    site.connection.request("GET", address, headers={"Cookie": f"sessionid={site.session}"})
    response = site.connection.getresponse()
    return response, response.read()


def _post(site: Site, address: str, body: str | bytes, headers: dict[str, str]) -> bytes:
    site.connection.request("POST", address, body, headers)
    response = site.connection.getresponse()
    told = response.read()
    assert response.status < 300, (response.status, told)
    return told


def _is_open(site: Site, page: str) -> bool:
    return b'id="import-bar"' in _get(site, page)[1]
