"""Why a file isn't taken."""

from __future__ import annotations


class Unusable(Exception):
    """`code` names the sentence in templates/files/_refused.html; `name` is the file's, made harmless."""

    def __init__(self, code: str, name: str = "") -> None:
        super().__init__(code)
        self.code, self.name = code, name
