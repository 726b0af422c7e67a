"""Why a command on a chat is turned down; split by what the caller must do."""

from __future__ import annotations


class HistoryError(Exception):
    """Root. `code` names the sentence that a template shows."""

    code = "refused"


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


class Fenced(HistoryError):
    """The run or compaction was taken over or has ended; the late writer stops and writes nothing."""

    code = "fenced"
