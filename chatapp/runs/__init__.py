"""Runs: one generation each, an asyncio task that belongs to the process, never to a consumer or a request."""

from chatapp.runs.host import (
    cancel_compaction,
    live_text,
    show_whole,
    shut_down,
    start,
    start_compaction,
    start_up,
    stop,
)
from chatapp.runs.live import Read

__all__ = [
    "Read",
    "cancel_compaction",
    "live_text",
    "show_whole",
    "shut_down",
    "start",
    "start_compaction",
    "start_up",
    "stop",
]
