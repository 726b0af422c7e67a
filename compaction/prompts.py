"""What the summariser is asked (rules E2, E4, E5, E7)."""

from __future__ import annotations


class BrokenTemplate(ValueError):
    """A template with an unknown or broken variable; the text says which."""


def check_template(template: str) -> None:
    """Raises BrokenTemplate."""
