"""One compaction, from the plan to the record: decide (pure), act (here, at the rim), record (one transaction)."""

from chatapp.compacting.warming import make_way
from chatapp.compacting.working import cancel_here, compact_and_warm, compact_for_run, compact_when_idle, wait_for_end

__all__ = ["cancel_here", "compact_and_warm", "compact_for_run", "compact_when_idle", "make_way", "wait_for_end"]
