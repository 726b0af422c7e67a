"""Whether the database answers, is as the code needs it, takes what is written, and has room for all processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from chatapp.doctor.findings import Finding, broken, fine, look
from chatapp.logs import words_of
from chatapp.readiness import missing_migrations

SUBJECT = "database"
MOST_CLOCK_SECONDS = 5
SLOW_SECONDS = 0.1


def examine() -> Iterator[Finding]:
    began = time.perf_counter()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT sqlite_version()" if connection.vendor == "sqlite" else "SHOW server_version")
            (version,) = cursor.fetchone()
    except DatabaseError as error:
        yield broken(SUBJECT, f"It doesn't answer ({words_of(error)}).", "Start it, or set DATABASE_URL right.")
        return
    seconds = time.perf_counter() - began
    words = f"{connection.display_name} {version} answers in {1000 * seconds:.0f} ms."
    yield look(SUBJECT, words, "That is slow: bring it nearer.") if seconds > SLOW_SECONDS else fine(SUBJECT, words)
    if missing := missing_migrations():
        yield broken(SUBJECT, f"Migrations: {missing}.", "Run manage.py prepare.")
        return
    yield fine(SUBJECT, "All migrations are applied.")
    yield _writing()
    yield from _sqlite() if connection.vendor == "sqlite" else _postgres()


def _writing() -> Finding:
    """A row that is taken back."""
    try:
        with transaction.atomic():
            Session.objects.create(
                session_key="doctor", session_data="", expire_date=timezone.now() + timedelta(days=1)
            )
            transaction.set_rollback(True)
    except DatabaseError as error:
        return broken(SUBJECT, f"It takes nothing ({words_of(error)}).", "Look at its disk, its rights and its locks.")
    return fine(SUBJECT, "It takes what is written.")


def _sqlite() -> Iterator[Finding]:
    (mode,) = _row("PRAGMA journal_mode")
    if mode != "wal":
        yield broken(SUBJECT, f"SQLite's journal is “{mode}”.", "Put FOLDLINE_DATA on a local disk; WAL needs one.")
    else:
        yield fine(SUBJECT, "SQLite writes ahead (WAL), so that reading and writing don't wait for each other.")
    if settings.REDIS_URL:
        yield look(
            SUBJECT, "Several processes share SQLite.", "With more than a few people, use PostgreSQL (DATABASE_URL)."
        )


def _postgres() -> Iterator[Finding]:
    most = int(_row("SHOW max_connections")[0])
    (used,) = _row("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    pool = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    words = f"{used} of {most} connections are in use; each process takes up to {pool}."
    if most - used < pool:
        yield look(SUBJECT, words, "Raise max_connections, or run fewer processes.")
    else:
        yield fine(SUBJECT, words)
    (now,) = _row("SELECT clock_timestamp()")
    off = abs((now - timezone.now()).total_seconds())
    if off > MOST_CLOCK_SECONDS:
        yield broken(
            "clock", f"The database's clock is {off:.0f} s from this one.", "Set both by NTP: leases go by them."
        )
    else:
        yield fine("clock", "The database's clock is this one's.")


def _row(question: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchone()
