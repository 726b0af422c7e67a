"""How often and how long one waits before another try, error by error."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chatapp.llm.errors import EndpointBusy, EndpointError, EndpointFailed, EndpointUnreachable


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds and numbers of tries; `sleep` and `chance` (0 to 1) are arguments so that tests needn't wait."""

    longest_wait_seconds: float = 20
    unreachable_seconds: float = 1
    loading_seconds: float = 2
    busy_tries: int = 3
    failed_tries: int = 2
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


USUAL_PATIENCE = Patience()


class Retries:
    """The waits of one call; loading may go on for as long as a first token may take."""

    def __init__(self, patience: Patience, first_token_seconds: float) -> None:
        self._patience = patience
        self._loading_left = first_token_seconds
        self._unreachable = self._busy = self._failed = 0

    def wait_after(self, error: EndpointError) -> float | None:
        """Seconds until the next try; None where there is none."""
        match error:
            case EndpointUnreachable():
                return self._after_unreachable(dropped=error.dropped)
            case EndpointBusy(exhausted=False):
                self._busy += 1
                return self._short(error.retry_after, self._busy) if self._busy <= self._patience.busy_tries else None
            case EndpointFailed(is_loading=True):
                self._loading_left -= self._patience.loading_seconds
                return self._patience.loading_seconds if self._loading_left > 0 else None
            case EndpointFailed():
                self._failed += 1
                return self._short(None, self._failed) if self._failed <= self._patience.failed_tries else None
        return None

    def _after_unreachable(self, *, dropped: bool) -> float | None:
        self._unreachable += 1
        if self._unreachable > 1:
            return None
        return 0 if dropped else self._patience.unreachable_seconds

    def _short(self, told: float | None, tries: int) -> float | None:
        """What the endpoint told, or a doubling wait with jitter; a long one is for the person to decide."""
        seconds = told if told is not None else 2 ** (tries - 2) * (1 + self._patience.chance())
        return seconds if seconds <= self._patience.longest_wait_seconds else None
