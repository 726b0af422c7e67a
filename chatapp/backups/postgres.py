"""Puts an archive's tables into a PostgreSQL database, all or nothing, in one transaction."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import IO, Any

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from chatapp.backups.layout import Manifest
from chatapp.backups.writing import own_tables

BLOCK_BYTES = 1024 * 1024


def other_sessions() -> int:
    """Connections to the database that aren't of this process's pool."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend'"
        )
        (all_of_them,) = cursor.fetchone()
    database: Any = connection  # PostgreSQL's alone has a pool
    return max(0, int(all_of_them) - int(database.pool.get_stats()["pool_size"]))


def replace_all(manifest: Manifest, open_rows: Callable[[str], IO[bytes]]) -> None:
    """Every table of ours is made anew as it was when the archive was made, and filled. Raises DatabaseError."""
    with transaction.atomic(), connection.cursor() as cursor:
        # What a migration stores is checked at once: a table with checks still to come can't be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in [*own_tables(), *manifest.tables]:
            cursor.execute(f'DROP TABLE IF EXISTS "{table}" CASCADE')
        migrate_to(manifest.migrations)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(f"TRUNCATE {', '.join(map(_quoted, manifest.tables))}")
        for table, columns in manifest.tables.items():
            names = ", ".join(map(_quoted, columns))
            with open_rows(table) as rows, cursor.copy(f"COPY {_quoted(table)} ({names}) FROM STDIN") as copy:
                shutil.copyfileobj(rows, copy, BLOCK_BYTES)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table, columns in manifest.tables.items():
            if "id" in columns:
                _go_on_counting(cursor, table)


def migrate_to(applied: list[tuple[str, str]]) -> None:
    """The newest of those of each app, with all that they need; the record of it comes with the rows."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    known = [key for key in applied if key in graph.nodes]
    newest = [key for key in known if not any(child.key in known for child in graph.node_map[key].children)]
    executor.migrate(newest)


def _go_on_counting(cursor: Any, table: str) -> None:
    cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [_quoted(table)])
    (sequence,) = cursor.fetchone()
    if sequence:
        newest = f"SELECT setval(%s, coalesce(max(id), 1), max(id) IS NOT NULL) FROM {_quoted(table)}"  # noqa: S608
        cursor.execute(newest, [sequence])


def _quoted(name: str) -> str:
    quoted: str = connection.ops.quote_name(name)
    return quoted
