"""What PostgreSQL does for each statement of real code: recorded as it is executed, explained with its true counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
# A plan may look at so many rows for each one that it gives, and at so many besides.
TIMES_RETURNED, MOST_BESIDE = 20, 500
MOST_SORTED = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One statement and its plan, as EXPLAIN (ANALYZE, FORMAT JSON) gives it; `milliseconds`: planned and executed."""

    sql: str
    plan: dict[str, Any]
    milliseconds: float

    def nodes(self) -> Iterator[dict[str, Any]]:
        waiting = [self.plan]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.get("Plans", ())

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in self.nodes() if "Index Name" in node}

    @property
    def rows_read(self) -> int:
        """Looked at in tables and indexes, those that were passed over included."""
        return round(sum(_read_by(node) for node in self.nodes() if {"Relation Name", "Index Name"} & node.keys()))

    @property
    def rows_returned(self) -> int:
        """By the statement, or changed by it."""
        top = self.plan["Plans"][0] if self.plan["Node Type"] == "ModifyTable" else self.plan
        return round(top["Actual Rows"] * top["Actual Loops"])

    @property
    def pages_read(self) -> int:
        """Of 8 kB, from memory or disk."""
        return int(self.plan.get("Shared Hit Blocks", 0) + self.plan.get("Shared Read Blocks", 0))

    def scanned_whole(self) -> set[str]:
        """Tables that were read from one end to the other and hold more than a few rows."""
        scans = (node for node in self.nodes() if node["Node Type"] == "Seq Scan")
        return {node["Relation Name"] for node in scans if _read_by(node) > MOST_BESIDE}

    def complaints(self, *, large: set[str]) -> list[str]:
        """What would grow with what is stored; `large`: the tables that do."""
        found = [f"reads all of {table}" for table in sorted(self.scanned_whole() & large)]
        found += [
            f"sorts {_sorted_rows(node):,.0f} rows"
            for node in self.nodes()
            if node["Node Type"] in {"Sort", "Incremental Sort"} and _sorted_rows(node) > MOST_SORTED
        ]
        if self.rows_read > TIMES_RETURNED * self.rows_returned + MOST_BESIDE:
            found.append(f"looks at {self.rows_read:,} rows for {self.rows_returned:,}")
        return found

    def described(self) -> str:
        """“Limit < Index Scan message_one_active_path”, the outermost first."""
        return " < ".join(" ".join(filter(None, (node["Node Type"], node.get("Index Name")))) for node in self.nodes())


def _rows(node: dict[str, Any]) -> float:
    return float(node["Actual Rows"] * node["Actual Loops"])


def _sorted_rows(node: dict[str, Any]) -> float:
    """What goes in: a limit above it lets fewer out."""
    return max(map(_rows, node.get("Plans", ())), default=0.0)


def _read_by(node: dict[str, Any]) -> float:
    passed_over = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + passed_over) * node["Actual Loops"])


@contextmanager
def explained() -> Iterator[list[Asked]]:
    """Every statement of the block is carried out twice, the first time to be explained and taken back.

    All that the block does is taken back at its end, too.
    """
    asked: list[Asked] = []

    def explain(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if sql.startswith(EXPLAINED) and not many:
            with connection.connection.cursor() as cursor:
                cursor.execute("SAVEPOINT explained")
                cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", params)
                told = cursor.fetchone()[0][0]
                took = told["Planning Time"] + told["Execution Time"]
                asked.append(Asked(cursor.mogrify(sql, params), told["Plan"], took))
                cursor.execute("ROLLBACK TO SAVEPOINT explained")
        return execute(sql, params, many, context)

    with transaction.atomic(), connection.execute_wrapper(explain):
        yield asked
        transaction.set_rollback(True)
