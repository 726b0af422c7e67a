"""How long each migration takes on a database with many messages, and how long others wait meanwhile.

`python -m bench.migrating 1000000` on the SQLite file in FOLDLINE_DATA or on DATABASE_URL, which has to be empty;
`python -m tests.with_servers python -m bench.migrating 1000000` brings a PostgreSQL. Another connection reads the
newest messages of a chat and changes one, over and over, as requests do.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
django.setup()

from django.db import DatabaseError, connection  # noqa: E402 (needs Django set up)
from django.db.migrations.executor import MigrationExecutor  # noqa: E402

from bench.table import Line, print_section  # noqa: E402

CHATS = 1_000
WORDS = "The harbour office wants a plan for mooring the boats before the storm; the lamps on the pier stay on. " * 3
BEFORE = ("chatapp", "0005_what_compactions_leave")  # the newest before the index of words, which reads every text
NEWEST = "SELECT id, content FROM chatapp_message WHERE chat_id = %s ORDER BY position DESC LIMIT 20"


@dataclass
class Prober:
    """Asks every 20 ms, from a thread with a connection of its own; keeps the longest wait and what failed."""

    chat_id: object
    longest: float = 0
    count: int = 0
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        is_over = threading.Event()
        thread = threading.Thread(target=self._ask, args=[is_over])
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _ask(self, is_over: threading.Event) -> None:
        while not is_over.wait(0.02):
            began = time.perf_counter()
            try:
                with connection.cursor() as cursor:
                    cursor.execute(NEWEST, [self.chat_id])
                    newest, _ = cursor.fetchall()[0]
                    cursor.execute("UPDATE chatapp_message SET content = content WHERE id = %s", [newest])
            except DatabaseError as error:
                self.failed.append(type(error).__name__)
            self.longest = max(self.longest, time.perf_counter() - began)
            self.count += 1
        connection.close()


def fill(count: int) -> object:
    """That many messages in 1,000 chats, as they were at BEFORE; gives the id of one chat."""
    executor = MigrationExecutor(connection)
    executor.migrate([BEFORE])
    apps = executor.loader.project_state([BEFORE]).apps
    owner = apps.get_model("auth", "User").objects.create(username="ada")
    chats = [apps.get_model("chatapp", "Chat")(owner=owner, title=f"Chat {n}") for n in range(CHATS)]
    apps.get_model("chatapp", "Chat").objects.bulk_create(chats)
    message = apps.get_model("chatapp", "Message")
    message.objects.bulk_create(message(chat=chat, position=0, role="user", content=WORDS) for chat in chats)
    own = {"id", "position", "idempotency_key"}
    columns = [field.column for field in message._meta.concrete_fields if field.column not in own]  # noqa: SLF001
    names = ", ".join(f'"{column}"' for column in columns)
    numbers = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"{numbers} INSERT INTO chatapp_message (position, idempotency_key, {names})"
            f" SELECT n, '', {names} FROM chatapp_message CROSS JOIN n"
            if connection.vendor == "postgresql"
            else f"INSERT INTO chatapp_message (position, idempotency_key, {names})"
            f" {numbers} SELECT n, '', {names} FROM chatapp_message CROSS JOIN n",
            [count // CHATS - 1],
        )
    return chats[0].pk.hex if connection.vendor == "sqlite" else chats[0].pk


def measure(count: int) -> Iterator[Line]:
    began = time.perf_counter()
    chat_id = fill(count)
    yield Line(f"{count:,} messages stored", f"{time.perf_counter() - began:.0f} s", connection.display_name)
    executor = MigrationExecutor(connection)
    for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes()):
        prober, began = Prober(chat_id), time.perf_counter()
        with prober.at_work():
            MigrationExecutor(connection).migrate([(migration.app_label, migration.name)])
        seconds = time.perf_counter() - began
        waited = f"longest wait {prober.longest:.2f} s, {len(prober.failed)} of {prober.count} failed"
        if migration.app_label == "chatapp":  # the others' tables are small
            yield Line(migration.name, f"{seconds:.2f} s", waited)


if __name__ == "__main__":
    print_section("Migrations while others read and write", measure(int(sys.argv[1].replace("_", ""))))
