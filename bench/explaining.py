"""What PostgreSQL does for questions that are asked often, or of large tables: `python -m bench.explaining 10000000`.

As a process of its own on DATABASE_URL, which has to be empty. Nobody copies a statement here: real functions and pages
are run, what they ask is recorded and explained (tests/plans.py). It says where a table is read whole, where many rows
are sorted, and where far more rows are looked at than are given; what a question reads by its nature is said beside it.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import django

from bench.table import Line, median, milliseconds, print_section
from tests.live import ROOT, bare_environment
from tests.with_servers import postgres

MESSAGES = 1_000_000
TIMES = 7


def measure(messages: int = MESSAGES) -> Iterator[Line]:
    """In a database that goes with it."""
    with (
        postgres() as url,
        subprocess.Popen(
            [sys.executable, "-m", "bench.explaining", str(messages), "--json"],
            cwd=ROOT,
            env=bare_environment(DATABASE_URL=url),
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout
        yield from (Line(**json.loads(line)) for line in process.stdout)


def explain_all(messages: int) -> Iterator[Line]:
    from django.core.management import call_command  # noqa: PLC0415 (Django is set up by now)

    from bench import millions  # noqa: PLC0415
    from bench.questions import cases_of  # noqa: PLC0415

    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    _give_room()
    millions.make_sentences()
    began = time.perf_counter()
    crowd = millions.fill(messages)
    yield Line(f"{messages:,} messages and what belongs to them", f"{time.perf_counter() - began:,.0f} s", _sizes())
    for case in cases_of(crowd):
        yield from _explain(case, millions.LARGE)


def _explain(case: Any, large: set[str]) -> Iterator[Line]:
    from tests.plans import explained  # noqa: PLC0415

    case_seconds = _seconds(case.work)
    with explained() as asked:
        case.work()
    read = sum(each.rows_read for each in asked)
    pages, took = sum(each.pages_read for each in asked), sum(each.milliseconds for each in asked)
    remark = f"{len(asked)} statements, {took:,.1f} ms in PostgreSQL, {read:,} rows and {pages:,} pages looked at"
    yield Line(case.name, milliseconds(median(case_seconds)), f"{remark}; {case.by_nature}".rstrip("; "))
    for each in asked:
        for complaint in each.complaints(large=large):
            mark = "by nature" if case.by_nature else "!"
            yield Line(f"    {mark}: {complaint}", "", f"{each.described()[:300]}\n        {each.sql[:400]}")


def _seconds(work: Callable[[], object]) -> list[float]:
    """The first time isn't counted; all that is written is taken back."""
    from django.db import transaction  # noqa: PLC0415

    seconds = []
    for _ in range(TIMES + 1):
        with transaction.atomic():
            began = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - began)
            transaction.set_rollback(True)
        if sum(seconds) > 10:  # long enough to be known
            break
    return seconds[1:] or seconds


def _give_room() -> None:
    """What anybody with so many messages would have set."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        for setting, value in {"max_wal_size": "16GB", "max_parallel_maintenance_workers": "2"}.items():
            cursor.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
        cursor.execute("SELECT pg_reload_conf()")


def _sizes() -> str:
    from django.db import connection  # noqa: PLC0415

    def bytes_of(function: str) -> str:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_size_pretty({function}('chatapp_message'))")
            return str(cursor.fetchone()[0])

    return f"the messages' table {bytes_of('pg_table_size')}, its indexes {bytes_of('pg_indexes_size')}"


def main() -> int:
    """1 where anything that isn't so by its nature was found."""
    found = False
    lines: Any = explain_all(int(sys.argv[1].replace("_", "")))
    if "--json" in sys.argv:
        for line in lines:
            print(json.dumps({"what": line.what, "figure": line.figure, "remark": line.remark}), flush=True)
        return 0

    def watched() -> Iterator[Line]:
        nonlocal found
        for line in lines:
            found = found or line.what.strip().startswith("!")
            yield line

    print_section("What PostgreSQL does for each question", watched())
    return int(found)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    sys.exit(main())
