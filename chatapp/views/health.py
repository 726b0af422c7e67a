"""Whether this process can do its work: database, migrations, channel layer."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from chatapp import events


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 when all is fine, 503 otherwise; the JSON says of each check "ok" or what is wrong, never a secret."""
    checked = {"database": _check_database(), "layer": async_to_sync(events.check_layer)()}
    checked["migrations"] = _check_migrations() if checked["database"] == "ok" else "not checked"
    healthy = set(checked.values()) == {"ok"}
    return JsonResponse({"status": "ok" if healthy else "failing", "checks": checked}, status=200 if healthy else 503)


def _check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _check_migrations() -> str:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} not applied" if missing else "ok"
