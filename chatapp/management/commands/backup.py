"""`manage.py backup FILE`: one archive of the installation, taken while it is at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chatapp import backups


class Command(BaseCommand):
    help = "Writes database, files being imported and the secret into one archive. The server may go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, or a folder in which it is named by the time")
        parser.add_argument("--without-secret", action="store_true", help="leave out what opens the endpoint keys")

    def handle(self, *, file: Path, without_secret: bool, **_: Any) -> None:
        try:
            target, manifest = backups.write_backup(file.absolute(), with_secret=not without_secret)
        except backups.CannotBackUp as cannot:
            raise CommandError(str(cannot)) from cannot
        self.stdout.write(f"{target}: {target.stat().st_size / 1_000_000:.1f} MB.")
        self.stdout.write(
            "It holds the secret: whoever has the file can read everything, endpoint keys too, and sign in as anybody."
            if manifest.has_secret
            else "It doesn't hold the secret. Keep SECRET_KEY elsewhere, or endpoint keys have to be entered again."
        )
