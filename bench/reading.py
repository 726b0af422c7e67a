"""What the next request of a long chat is read from: `python -m bench.reading`, as a process with its own database.

All but the last messages are archived, so its time and its queries must not depend on how many there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from bench.size import sized
from bench.table import Line, median, milliseconds
from tests.live import ROOT, bare_environment

LENGTHS = sized((1_000, 10_000, 100_000), (1_000, 10_000))
TIMES = 15


def measure() -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        told = subprocess.run(
            [sys.executable, "-m", "bench.reading"],
            cwd=ROOT,
            env=bare_environment(FOLDLINE_DATA=folder, DJANGO_SETTINGS_MODULE="chatapp.settings"),
            stdout=subprocess.PIPE,
            check=True,
        )
    for found in json.loads(told.stdout):
        yield Line(
            f"reading and assembling, {found['length']:,} messages",
            milliseconds(found["seconds"]),
            f"median of {TIMES}; {found['queries']} queries; {found['sent']} messages sent, the others archived",
        )


def _measure_here() -> list[dict[str, float]]:
    import django  # noqa: PLC0415 (this process alone needs it)

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    from bench.filling import LIVE_AFTER_FOLD, REPLY, WIDE_WINDOW, talk  # noqa: PLC0415
    from chatapp.history import loading  # noqa: PLC0415
    from chatapp.models import Chat  # noqa: PLC0415
    from compaction.request import assemble  # noqa: PLC0415
    from tests.factories import fold, make_model, make_user  # noqa: PLC0415

    def request_of(chat: Chat) -> int:
        situation = loading.load_situation(chat.pk)
        situation.meter()
        return len(assemble(situation.to_send().transcript))

    call_command("migrate", verbosity=0)
    owner, model = make_user("ada"), make_model("scripted", window=WIDE_WINDOW)
    found = []
    for length in LENGTHS:
        chat = talk(owner, model, length, has_usage=True)
        fold(chat, through=length - LIVE_AFTER_FOLD - 1, summary=REPLY.format(n=1))
        with CaptureQueriesContext(connection) as queries:
            sent = request_of(chat)
        seconds = []
        for _ in range(TIMES):
            began = time.perf_counter()
            request_of(chat)
            seconds.append(time.perf_counter() - began)
        found.append({"length": length, "seconds": median(seconds), "queries": len(queries), "sent": sent})
    return found


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    print(json.dumps(_measure_here()))
