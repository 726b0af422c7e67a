"""Why a command on a chat is turned down; split by what the caller must do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any


class HistoryError(Exception):
    """Root. `code` names the sentence that a template shows."""

    code = "refused"

    @property
    def facts(self) -> dict[str, Any]:
        """What else the sentence needs."""
        return {}


class ChatBusy(HistoryError):
    """A run or a compaction is live; the caller keeps the person's text and says so."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class NotPossible(HistoryError):
    """The message isn't one that this can be done to, or no model is connected; tell the person."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that leaves no more: of "sends", "runs", "tokens", "money" or "uploads" (megabytes) so many.

    `ends_at`: when there is more; None where that hangs on a reply's end.
    """

    kind: str
    most: int | Decimal
    ends_at: datetime | None = None


class LimitReached(HistoryError):
    """The person has used what they may for now; tell them which limit and when it ends, and keep their text."""

    code = "limit_reached"

    def __init__(self, reached: Reached) -> None:
        super().__init__(self.code)
        self.reached = reached

    @property
    def facts(self) -> dict[str, Any]:
        return {"reached": self.reached}


class Fenced(HistoryError):
    """The run or compaction was taken over or has ended; the late writer stops and writes nothing."""

    code = "fenced"
