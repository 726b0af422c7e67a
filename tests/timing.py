"""How long something takes, apart from what else the machine and the session are doing."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def processor_seconds(work: Callable[[], object]) -> float:
    """Of this thread alone, with what earlier tests left behind put out of the collector's way."""
    gc.collect()
    gc.freeze()
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.unfreeze()
