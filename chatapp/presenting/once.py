"""What several pages ask for at the same moment is rendered once: who comes first does it, the others wait for that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future

# A command's answer and the pushes to all open pages of the chat come within it.
SECONDS_KEPT = 1.0

_guard = threading.Lock()
_made: dict[Hashable, tuple[float, Future[str]]] = {}


def once(key: Hashable, make: Callable[[], str]) -> str:
    """`key` says all that the result depends on, but for what may be a second old. Raises whatever `make` does."""
    now = time.monotonic()
    mine: Future[str] = Future()
    with _guard:
        for old in [each for each, (since, _) in _made.items() if now - since > SECONDS_KEPT]:
            del _made[old]
        _, result = _made.setdefault(key, (now, mine))
    if result is mine:
        try:
            mine.set_result(make())
        except BaseException as error:
            with _guard:
                _made.pop(key, None)
            mine.set_exception(error)
            raise
    return result.result()
