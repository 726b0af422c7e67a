"""Whether this process should be given requests: its database is as the code needs it, and it isn't about to end."""

from __future__ import annotations

import threading
import time

from asgiref.sync import async_to_sync
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from chatapp import events

OK = "ok"
SECONDS_REMEMBERED = 1.0  # anyone may ask, as often as they like


class Readiness:
    """One a process. `look` costs the database a SELECT 1 at most once a second, whoever asks."""

    def __init__(self) -> None:
        self.is_ending = False
        self._has_migrations = False
        self._looked_at = -SECONDS_REMEMBERED
        self._found: dict[str, str] = {}
        self._looking = threading.Lock()  # while one waits for a database that is away, the others have its last answer

    def look(self) -> dict[str, str]:
        """Of each check "ok" or what is wrong, never a secret."""
        if time.monotonic() - self._looked_at >= SECONDS_REMEMBERED and self._looking.acquire(blocking=not self._found):
            try:
                self._found = self._look()
                self._looked_at = time.monotonic()
            finally:
                self._looking.release()
        return self._found | {"process": "ending" if self.is_ending else OK}

    def _look(self) -> dict[str, str]:
        found = {"database": check_database(), "layer": async_to_sync(events.check_layer)()}
        return found | {"migrations": self._check_migrations() if found["database"] == OK else "not checked"}

    def _check_migrations(self) -> str:
        """Applied migrations stay so while a process lives; reading them from files and rows takes 50 ms."""
        missing = "" if self._has_migrations else missing_migrations()
        self._has_migrations = not missing
        return missing or OK


def is_ready(checks: dict[str, str]) -> bool:
    """Without the layer each process still stores, writes and answers; pages ask instead of being told."""
    return all(outcome == OK for name, outcome in checks.items() if name != "layer")


def check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return OK


def missing_migrations() -> str:
    """Empty when all are applied."""
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} not applied" if missing else ""


here = Readiness()
