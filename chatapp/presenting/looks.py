"""How a browser wants its pages: light or dark, with the list of chats or without; in cookies, so that the first paint
is right.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

THEME_COOKIE = "foldline_theme"
SIDEBAR_COOKIE = "foldline_sidebar"  # written by the page itself (static/js/shortcuts.js)
SYSTEM = "system"
THEMES: Mapping[str, Promise] = {SYSTEM: _("System"), "light": _("Light"), "dark": _("Dark")}


def theme_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get(THEME_COOKIE, SYSTEM)
    return chosen if chosen in THEMES else SYSTEM


def looks(request: HttpRequest) -> dict[str, object]:
    """For every template: `theme`, `themes` to choose from, and whether the list of chats is put away."""
    return {
        "theme": theme_of(request),
        "themes": THEMES,
        "has_no_sidebar": request.COOKIES.get(SIDEBAR_COOKIE) == "closed",
    }
