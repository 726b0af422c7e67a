"""Looks for migrations that old and new code can't both live with: `python -m scripts.migrations` (docs/operating.md).

Those after the newest release are judged, as only between releases processes of both stand side by side.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import django
from django.apps import apps
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import (
    AddField,
    AlterField,
    AlterModelTable,
    CreateModel,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
    RunPython,
    RunSQL,
)
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED, ManyToManyField

# Name of the newest migration of the newest release. There is none yet, and nothing is judged.
RELEASED = ""
GONE = (RemoveField, DeleteModel, RenameField, RenameModel, AlterModelTable)


def complaints_of(migration: Migration) -> Iterator[str]:
    """What in it old code would stumble over. A table that it makes itself is nothing that old code knows."""
    made = {operation.name_lower for operation in migration.operations if isinstance(operation, CreateModel)}
    for operation in migration.operations:
        if getattr(operation, "model_name_lower", "") not in made and (words := _complaint(operation)):
            yield f"{migration.app_label} {migration.name}: {operation.describe()}: {words}"


def _complaint(operation: Operation) -> str:
    if isinstance(operation, GONE):
        return "old code still reads it; stop using it in one release, take it away in the next"
    if isinstance(operation, AddField) and not isinstance(operation.field, ManyToManyField):
        is_filled = operation.field.null or operation.field.db_default is not NOT_PROVIDED
        return "" if is_filled else "old code stores rows without it; give it null=True or a db_default"
    if isinstance(operation, AlterField) and not operation.field.null and operation.field.db_default is NOT_PROVIDED:
        return "make sure that old code never stores an empty one; say so by a db_default"
    if isinstance(operation, (RunPython, RunSQL)) and not operation.reversible:
        return "there is no way back; give it one, RunPython.noop if nothing has to be done"
    return ""


def judged() -> list[Migration]:
    loader = MigrationLoader(None)
    own = sorted((name, migration) for (app, name), migration in loader.disk_migrations.items() if app == "chatapp")
    return [migration for name, migration in own if RELEASED and name > RELEASED]


def main() -> int:
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
        django.setup()
    complaints = [complaint for migration in judged() for complaint in complaints_of(migration)]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
