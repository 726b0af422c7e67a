"""Finding words among many messages, and the list of many chats: `python -m bench.searching MESSAGES`, in one database.

As a process of its own with a data folder that goes with it: SQLite, or PostgreSQL by DATABASE_URL.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from bench.size import sized
from bench.table import Line, kilobytes, mebibytes, timed
from tests.live import ROOT, bare_environment
from tests.with_servers import postgres

ON_SQLITE, ON_POSTGRESQL = sized((200_000, 1_000_000), (20_000, 20_000))
TIMES = 15
# 1,000 chats of ten messages are made by Django, and multiplied within the database.
CHATS, SEEDS = 1_000, 10
CHINESE_EVERY = 50
LISTED = (10, 10_000)
WORDS = [
    *("harbour", "mooring", "storm", "rope", "lamp", "pier", "ferry", "berth", "wind", "tide", "anchor", "deck"),
    *("sail", "keel", "mast", "crew", "night", "morning", "plan", "list", "water", "salt", "bread", "flour", "oven"),
    *("winter", "summer", "garden", "stone", "river", "bridge", "letter", "window", "table", "paper", "number"),
]
ASKED = {
    "a word in every message": "harbour ",
    "two letters of one": "ha",
    "a rare word": "copy7 ",
    "two words": "bridge copy7 ",
    "a phrase": '"rope lamp"',
    "a word that is nowhere": "zeppelin ",
    "a Chinese word of two signs, in 2 % of all messages": "预算",
    "a Chinese word of four": "会议日程",
}


def measure() -> Iterator[Line]:
    yield from _told("SQLite", ON_SQLITE, {})
    with postgres() as url:
        yield from _told("PostgreSQL", ON_POSTGRESQL, {"DATABASE_URL": url})


def _told(name: str, messages: int, environment: dict[str, str]) -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        own = {"FOLDLINE_DATA": folder, "DJANGO_SETTINGS_MODULE": "chatapp.settings", **environment}
        told = subprocess.run(
            [sys.executable, "-m", "bench.searching", str(messages)],
            cwd=ROOT,
            env=bare_environment(**own),
            stdout=subprocess.PIPE,
            check=True,
        )
    found = json.loads(told.stdout)
    size = f"database {mebibytes(found['bytes'])}, {mebibytes(found['without'])} of it without what finds words"
    yield Line(f"{name}, {messages:,} messages", f"{found['filling']:,.0f} s to fill", size)
    for what, seconds in found["asked"].items():
        yield timed(f"{name}, {what}", seconds, f"{found['hits'][what]} results")
    for listed in found["lists"]:
        what = f"{listed['queries']} queries, {kilobytes(listed['bytes'])} of HTML"
        yield timed(f"{name}, list of {listed['chats']:,} chats", listed["seconds"], what)


def _seconds(work: Callable[[], object]) -> list[float]:
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def _measure_here(messages: int) -> dict[str, object]:
    import django  # noqa: PLC0415 (this process alone needs it)

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    from chatapp.searching import search  # noqa: PLC0415
    from chatapp.searching.finding import text_search  # noqa: PLC0415
    from tests.factories import make_user  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    ada = make_user("ada")
    text_search().drop_index(connection)
    began = time.perf_counter()
    _fill(ada, messages)
    without = _database_bytes(connection)
    text_search().make_index(connection)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    filling = time.perf_counter() - began
    return {
        "filling": filling,
        "bytes": _database_bytes(connection),
        "without": without,
        "hits": {what: len(search(ada, text)) for what, text in ASKED.items()},
        "asked": {what: _seconds(lambda text=text: search(ada, text)) for what, text in ASKED.items()},
        "lists": [_list_of(count) for count in LISTED],
    }


def _fill(owner: object, messages: int) -> None:
    """In each chat as many messages as it takes; every text has a word that only its copies of one round have."""
    from django.db import connection  # noqa: PLC0415

    from chatapp.models import Chat, Message  # noqa: PLC0415

    chats = Chat.objects.bulk_create(Chat(owner=owner, title=f"{WORDS[n % len(WORDS)]} {n}") for n in range(CHATS))
    seeds = [
        Message(chat=chat, position=position, role="assistant" if position % 2 else "user", content=_text(n, position))
        for n, chat in enumerate(chats)
        for position in range(SEEDS)
    ]
    Message.objects.bulk_create(seeds, batch_size=1_000)
    fields = [field for field in Message._meta.concrete_fields if not field.primary_key]  # noqa: SLF001 (public)
    quote = connection.ops.quote_name
    ours = {"position": f"position + {SEEDS} * g", "content": "content || ' copy' || g"}
    columns = ", ".join(quote(field.column) for field in fields)
    values = ", ".join(ours.get(field.column, quote(field.column)) for field in fields)
    rounds = messages // (CHATS * SEEDS) - 1
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE rounds(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM rounds WHERE g < {rounds})"
            f" INSERT INTO chatapp_message ({columns}) SELECT {values} FROM chatapp_message, rounds"
        )


def _text(number: int, position: int) -> str:
    """Some forty words, "harbour" in all of them."""
    at = number * SEEDS + position
    words = [WORDS[(at * 7 + step * (1 + at % 5)) % len(WORDS)] for step in range(40)]
    chinese = " 我们昨天讨论了预算问题和下周的会议日程。" if at % CHINESE_EVERY == 0 else ""
    return f"harbour {' '.join(words)} n{at}.{chinese}"


def _list_of(count: int) -> dict[str, object]:
    """Of a person of their own: what a page shows of them."""
    from django.db import connection  # noqa: PLC0415
    from django.template.loader import render_to_string  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    from chatapp.models import Chat  # noqa: PLC0415
    from chatapp.presenting import read_sidebar  # noqa: PLC0415
    from tests.factories import make_user  # noqa: PLC0415

    person = make_user(f"person of {count}")
    Chat.objects.bulk_create((Chat(owner=person, title=f"chat {n}") for n in range(count)), batch_size=1_000)

    def show() -> str:
        return render_to_string("chat/_sidebar_chats.html", {"sidebar": read_sidebar(person)})

    with CaptureQueriesContext(connection) as queries:
        html = show()
    return {"chats": count, "queries": len(queries), "bytes": len(html.encode()), "seconds": _seconds(show)}


def _database_bytes(connection: object) -> int:
    asked = {
        "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        "postgresql": "SELECT pg_database_size(current_database())",
    }
    with connection.cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute(asked[connection.vendor])  # type: ignore[attr-defined]
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    print(json.dumps(_measure_here(int(sys.argv[1]))))
