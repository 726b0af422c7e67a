"""All that is stored, to be compared: every table but those of sessions and of failed sign-ins."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import connection

Dump = dict[str, Counter[tuple[Any, ...]]]
LEFT_OUT = ("django_session", "axes_")


def dump() -> Dump:
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        return {table: _rows(cursor, table) for table in tables if not table.startswith(LEFT_OUT)}


def difference(before: Dump, after: Dump) -> list[str]:
    """One line a row that came, went or changed; empty where nothing did."""
    return [
        f"{sign} {table} {row}"
        for table in before | after
        for sign, gone, kept in (("-", before, after), ("+", after, before))
        for row in gone.get(table, Counter()) - kept.get(table, Counter())
    ]


def _rows(cursor: Any, table: str) -> Counter[tuple[Any, ...]]:
    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
    return Counter(tuple(map(_hashable, row)) for row in cursor.fetchall())


def _hashable(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview | bytearray) else value if _is_plain(value) else repr(value)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list)
