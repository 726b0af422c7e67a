"""`manage.py restore FILE`: an installation as it was when the archive was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chatapp import backups

ANOTHER = (
    "The secret here is another one than the backup's: everybody has to sign in again, and endpoint keys to be entered"
    " again (or put the former secret into SECRET_KEY_FALLBACKS)."
)


class Command(BaseCommand):
    help = "Puts an archive made by `backup` in place. Stop every Foldline on this database first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="even where there are accounts already")
        parser.add_argument("--check", action="store_true", help="only look whether the archive is whole")

    def handle(self, *, file: Path, replace: bool, check: bool, **_: Any) -> None:
        try:
            if check:
                with backups.open_archive(file) as (_zipped, manifest):
                    self.stdout.write(f"{file} is whole: {_of(manifest)}.")
                return
            restored = backups.restore(file, replace=replace)
        except backups.CannotRestore as cannot:
            raise CommandError(str(cannot)) from cannot
        self.stdout.write(f"Restored: {_of(restored.manifest)}.")
        self.stdout.write("Everybody has to sign in again, with the passwords and second factors of then.")
        if restored.ended:
            self.stdout.write(f"Marked as interrupted, as they were going on then: {restored.ended}.")
        for path in restored.set_aside:
            self.stdout.write(f"What was here before is {path}.")
        if restored.has_other_secret:
            self.stdout.write(self.style.WARNING(ANOTHER))


def _of(manifest: backups.Manifest) -> str:
    secret = "with the secret" if manifest.has_secret else "without the secret"
    made_at = f"{manifest.made_at[:16].replace('T', ' ')} UTC"
    return f"a backup of {made_at}, {manifest.database}, Foldline {manifest.version}, {secret}"
