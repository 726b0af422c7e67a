"""The switch between light, dark and the system's own; for everybody, signed in or not."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from chatapp.presenting.looks import SYSTEM, THEME_COOKIE, THEMES

A_YEAR = 31_536_000


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Back to the page it was chosen on; for htmx the switch again, and a word to the page that shows it at once."""
    chosen = request.POST.get("theme", "")
    chosen = chosen if chosen in THEMES else SYSTEM
    back = request.POST.get("next", "")
    if "HX-Request" in request.headers:
        response = render(request, "_theme.html", {"theme": chosen, "themes": THEMES, "next": back})
        response["HX-Trigger"] = json.dumps({"foldline:theme": {"theme": chosen}})
    else:
        is_here = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
        response = redirect(back if is_here else "home")
    response.set_cookie(THEME_COOKIE, chosen, max_age=A_YEAR, httponly=True, samesite="Lax", secure=request.is_secure())
    return response
