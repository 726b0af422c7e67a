"""What an archive holds: a ZIP of the database, files being imported, the secret where wanted, and its manifest.

manifest.json         version, time, kind of database, applied migrations; size and SHA-256 of each other file
database.sqlite3      SQLite: the whole database, or
tables/NAME           PostgreSQL: each table's rows as COPY writes them; the manifest names their columns
imports/ID            files that are being imported
secret                what signs sessions and seals keys
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

FORMAT = 1
MANIFEST, DATABASE, SECRET = "manifest.json", "database.sqlite3", "secret"
KNOWN_NAMES = re.compile(r"database\.sqlite3|secret|tables/[a-z0-9_]+|imports/[0-9a-f]{32}")
KNOWN_COLUMN = re.compile(r"[a-z0-9_]+")


class CannotBackUp(Exception):
    """Nothing was written; its words are a sentence for the operator."""


class CannotRestore(Exception):
    """Nothing was changed; its words are a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`files`: SHA-256 and bytes by name; `tables`: columns by table, on PostgreSQL; `migrations`: app and name."""

    version: str
    made_at: str
    database: str
    migrations: list[tuple[str, str]]
    secret_fingerprint: str
    format: int = FORMAT
    tables: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def has_secret(self) -> bool:
        return SECRET in self.files

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Raises CannotRestore."""
        try:
            facts: dict[str, Any] = json.loads(content)
            is_known = facts["format"] == FORMAT
            facts["migrations"] = [(app, name) for app, name in facts["migrations"]]
            facts["files"] = {name: (digest, size) for name, (digest, size) in facts["files"].items()}
            manifest = cls(**facts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CannotRestore("The archive's manifest can't be read: it is no backup, or it is damaged.") from error
        if not is_known:
            raise CannotRestore("The archive was made by a newer Foldline. Upgrade first, then restore.")
        return manifest


def fingerprint(secret: str) -> str:
    """Tells one secret from another, and nothing of either."""
    return hashlib.sha256(b"foldline secret: " + secret.encode()).hexdigest()[:16]


def note_backup(path: Path, made_at: datetime) -> None:
    """For the doctor; a backup is one without it, too."""
    with suppress(OSError):
        _stamp().write_text(json.dumps({"path": str(path), "made_at": made_at.isoformat()}))


def newest_backup() -> tuple[Path, datetime] | None:
    """Where and when the newest was made from here; None where none is known."""
    try:
        facts = json.loads(_stamp().read_text())
        return Path(facts["path"]), datetime.fromisoformat(facts["made_at"])
    except (OSError, ValueError, KeyError):
        return None


def _stamp() -> Path:
    return Path(settings.FOLDLINE_DATA) / "last-backup"
