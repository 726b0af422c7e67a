"""Backups: one archive that holds an installation, made while it is at work, and the way back from it."""

from chatapp.backups.layout import CannotBackUp, CannotRestore, Manifest, newest_backup
from chatapp.backups.reading import open_archive
from chatapp.backups.restoring import Restored, restore
from chatapp.backups.writing import write_backup

__all__ = [
    "CannotBackUp",
    "CannotRestore",
    "Manifest",
    "Restored",
    "newest_backup",
    "open_archive",
    "restore",
    "write_backup",
]
