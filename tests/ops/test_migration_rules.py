"""Migrations that old and new code can both live with are told from those that stop a rolling upgrade."""

import pytest
from django.db import models
from django.db.migrations import (
    AddConstraint,
    AddField,
    AlterField,
    CreateModel,
    DeleteModel,
    Migration,
    RemoveField,
    RenameField,
    RunPython,
)
from django.db.migrations.loader import MigrationLoader

from scripts import migrations


def complaints(*operations) -> list[str]:
    migration = Migration("0099_to_come", "chatapp")
    migration.operations = list(operations)
    return list(migrations.complaints_of(migration))


@pytest.mark.parametrize(
    "operation",
    [
        AddField("chat", "mood", models.CharField(default="calm")),
        AlterField("chat", "title", models.TextField()),
        RemoveField("chat", "title"),
        RenameField("chat", "title", "name"),
        DeleteModel("Chat"),
        RunPython(lambda apps, editor: None),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_what_old_code_would_stumble_over_is_told(operation):
    (complaint,) = complaints(operation)
    assert complaint.startswith("chatapp 0099_to_come: ")


@pytest.mark.parametrize(
    "operation",
    [
        AddField("chat", "mood", models.CharField(null=True)),
        AddField("chat", "mood", models.CharField(db_default="calm")),
        AddField("chat", "friends", models.ManyToManyField("auth.User")),
        AlterField("chat", "title", models.TextField(null=True)),
        AddConstraint("chat", models.CheckConstraint(condition=models.Q(pk__gt=0), name="one")),
        RunPython(RunPython.noop, RunPython.noop),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_what_old_code_never_notices_is_not(operation):
    assert complaints(operation) == []


def test_table_that_the_migration_makes_itself_may_be_anything():
    made = CreateModel("Mood", [("id", models.BigAutoField(primary_key=True))])
    assert complaints(made, AddField("mood", "word", models.TextField())) == []


def test_real_history_is_read():
    """0002 added columns that must be filled: before the first release that was nobody's trouble."""
    second = MigrationLoader(None).disk_migrations["chatapp", "0002_deletions_and_new_moments"]
    assert any("stores rows without it" in complaint for complaint in migrations.complaints_of(second))


def test_only_what_came_after_the_newest_release_is_judged(monkeypatch):
    monkeypatch.setattr(migrations, "RELEASED", "0020_acts_are_logged")
    names = [migration.name for migration in migrations.judged()]
    assert names[0].startswith("0021_")
    assert names == sorted(names)
