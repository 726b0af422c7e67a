"""What comes in from forms and addresses: a text as typed, a number, an id."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms

from chatapp.history.texts import as_typed

LONGEST_TEXT = 2_000_000


class TypedText(forms.CharField):
    """A text as typed, made storable before any validator can turn a stray NUL into a lost message."""

    def to_python(self, value: Any) -> str:
        return as_typed(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        """A browser sends other line ends than are stored; that alone is no change."""
        return super().has_changed(as_typed(initial or ""), data)


def number_in(raw: str | None, *, digits: int = 15) -> int | None:
    """None for nothing, for nonsense, and for more digits than a column holds."""
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= digits else None


def uuid_in(raw: str | None) -> UUID | None:
    try:
        return UUID(raw or "")
    except ValueError:
        return None
