"""Why a file isn't taken."""

from __future__ import annotations

from chatapp.history.errors import Reached


class Unusable(Exception):
    """`code` names the sentence in templates/files/_refused.html; `name` is the file's, made harmless.

    `reached`: the limit that is in the way, if one is.
    """

    def __init__(self, code: str, name: str = "", *, reached: Reached | None = None) -> None:
        super().__init__(code)
        self.code, self.name, self.reached = code, name, reached
