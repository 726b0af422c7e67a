"""`manage.py prepare`: brings database and static files up to date; quick when they are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor


class Command(BaseCommand):
    help = "Applies migrations and collects static files, where there is something to do."

    def handle(self, **_: Any) -> None:
        self.migrate()
        self.collect_static()

    def migrate(self) -> None:
        try:
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                self.stdout.write("Bringing the database up to date ...")
                call_command("migrate", interactive=False, verbosity=0)
        except OperationalError as error:
            raise CommandError(f"The database can't be used: {str(error).strip()}") from error

    def collect_static(self) -> None:
        """Again only when a file has changed: collecting and compressing takes seconds, looking takes milliseconds."""
        stamp = settings.FOLDLINE_DATA / "static.fingerprint"
        fingerprint = static_fingerprint()
        if stamp.exists() and stamp.read_text() == fingerprint and settings.STATIC_ROOT.is_dir():
            return
        self.stdout.write("Collecting static files ...")
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(fingerprint)


def static_fingerprint() -> str:
    """Changes with the name, size or time of any static file."""
    found = []
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = Path(storage.path(name)).stat()
            found.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()
