"""A talk held through the whole product, by someone who reads a reply before the next message; and its rows."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.processes import children, cpu_seconds
from bench.site import Site
from bench.talk import Said, said

# So long a person reads a reply and writes the next message; where nothing is done meanwhile, nothing is waited for.
READING_SECONDS = 30.0
LOOKS_APART, QUIET_LOOKS, QUIET_SHARE = 0.25, 3, 0.1


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the model as recorded."""

    kind: str
    prompt: int
    cached: int
    completion: int
    at: datetime

    @property
    def computed(self) -> int:
        return self.prompt - self.cached

    @property
    def cached_percent(self) -> float:
        return 100 * self.cached / self.prompt if self.prompt else 0.0


@dataclass(frozen=True, slots=True)
class Fold:
    """One applied compaction: its row, its calls in order, and the turns that came after it."""

    row: sqlite3.Row
    calls: tuple[Call, ...]
    warming: Call | None
    turns_after: tuple[Call, ...]
    seconds: float
    waited: float

    @property
    def continuation(self) -> Call | None:
        """The call that prolonged the chat's request, also where its answer was no summary."""
        first = self.calls[0] if self.calls else None
        return first if first and first.prompt > self.row["tokens_before"] else None

    @property
    def from_transcript(self) -> tuple[Call, ...]:
        """Those that read the archived messages anew; what comes after them merged segments."""
        first = 1 if self.continuation else 0
        return self.calls[first : first + self.row["chunks_done"]]


@dataclass(frozen=True, slots=True)
class Asked:
    """When a message was sent (UTC without a zone, as in SQLite), and seconds until its page got any of the reply."""

    at: datetime
    first_seconds: float


def hold(site: Site, turns: int, *, first: int = 0, asides: int = 0) -> list[Asked]:
    """So many messages, each answered; between them whatever Foldline does when nobody writes has its time.

    The toy answers the question of a continuation with an apology. It would not be asked so again after two of them;
    here it is, so that what its cache serves can be measured.
    """
    engines, asked = children(site.pid), []
    for number in range(first, first + turns):
        site.change_row("UPDATE chatapp_languagemodel SET continuation_suspended = '', continuation_empties = 0")
        site.connection.close()  # the server has let go of it while one read
        asked.append(ask(site, said(number, asides=asides).text))
        site.wait_until_written()
        read(site, engines)
    return asked


def ask(site: Site, words: str) -> Asked:
    with site.open("talk") as page:
        before, at, began = page.frames, datetime.now(UTC).replace(tzinfo=None), time.perf_counter()
        site.post_send("talk", words, seen=page.seen)
        while page.frames == before:
            page.next()
        seconds = time.perf_counter() - began
        site.end_send()
        return Asked(at, seconds)


def read(site: Site, engines: list[int]) -> None:
    """As long as a person reads, or until the engine is quiet and no compaction runs."""
    end, quiet = time.monotonic() + READING_SECONDS, 0
    while quiet < QUIET_LOOKS and time.monotonic() < end:
        before = sum(map(cpu_seconds, engines))
        time.sleep(LOOKS_APART)
        used = sum(map(cpu_seconds, engines)) - before
        is_quiet = used < LOOKS_APART * QUIET_SHARE and not is_folding(site)
        quiet = quiet + 1 if is_quiet else 0


def is_folding(site: Site) -> bool:
    return bool(site.rows("SELECT id FROM chatapp_compaction WHERE status = 'running'"))


def folds(site: Site) -> list[Fold]:
    calls = [
        Call(row["kind"], row["prompt_tokens"], row["cached_tokens"], row["completion_tokens"], when(row["created_at"]))
        for row in site.rows("SELECT * FROM chatapp_usagerecord ORDER BY id")
    ]
    found = []
    rows = site.rows("SELECT * FROM chatapp_compaction ORDER BY id")
    for row in rows:
        if row["status"] != "applied":
            continue
        begin, end = when(row["started_at"]), when(row["ended_at"])
        after = [call for call in calls if call.at > end]
        found.append(
            Fold(
                row,
                tuple(call for call in calls if call.kind == "compaction" and begin <= call.at <= end),
                next((call for call in after[:1] if call.kind == "warming"), None),
                tuple([call for call in after if call.kind == "reply"][:3]),
                (end - begin).total_seconds(),
                waited(site, row),
            )
        )
    return found


def seconds_of(fold: Fold) -> tuple[float, float]:
    """From the beginning to the end of the continuation, and from there to the end of the transcript's calls."""
    begin, asked, read = when(fold.row["started_at"]), fold.calls[0].at, fold.from_transcript[-1].at
    return (asked - begin).total_seconds(), (read - asked).total_seconds()


def outcomes(site: Site) -> dict[str, int]:
    """How many compactions ended how; what wasn't applied with its reason."""
    counted: dict[str, int] = {}
    for row in site.rows("SELECT status, reason FROM chatapp_compaction ORDER BY id"):
        name = ": ".join(filter(None, (row["status"], row["reason"])))
        counted[name] = counted.get(name, 0) + 1
    return counted


def waited(site: Site, compaction: sqlite3.Row) -> float:
    """Seconds that a sent message lay behind this compaction."""
    begin, end = when(compaction["started_at"]), when(compaction["ended_at"])
    if compaction["trigger"] in {"send", "overflow", "full"}:
        return (end - begin).total_seconds()
    sent = [when(row["started_at"]) for row in site.rows("SELECT started_at FROM chatapp_run")]
    return sum((end - at).total_seconds() for at in sent if begin < at < end)


def present(site: Site, fold: sqlite3.Row) -> tuple[list[Said], list[Said], list[Said]]:
    """Everything that the person had said by then; of it those whose value, and whose name, the next request holds."""
    messages = site.rows("SELECT * FROM chatapp_message WHERE active ORDER BY position")
    then = [row for row in messages if when(row["created_at"]) <= when(fold["ended_at"])]
    live = [row["content"] for row in then if row["position"] > fold["through_position"]]
    record = [segment["text"] for segment in json.loads(fold["segments"])]
    request = "\n".join([*record, *live])
    asked = [said(row["position"] // 2) for row in then if row["role"] == "user"]
    return asked, [one for one in asked if one.value in request], [one for one in asked if is_named(one.name, request)]


def is_named(name: str, text: str) -> bool:
    return bool(re.search(re.escape(name) + r"(?! \d)", text))


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)
