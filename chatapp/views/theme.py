"""The switch between light, dark and the system's own; for everybody, signed in or not."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from chatapp.presenting.looks import SYSTEM, THEME_COOKIE, THEMES
from chatapp.views.answering import redirect_back

A_YEAR = 31_536_000


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Back to the page it was chosen on; for htmx the switch again, and a word to the page that shows it at once."""
    chosen = request.POST.get("theme", "")
    chosen = chosen if chosen in THEMES else SYSTEM
    if "HX-Request" in request.headers:
        switch = {"theme": chosen, "themes": THEMES, "next": request.POST.get("next", "")}
        response = render(request, "_theme.html", switch)
        response["HX-Trigger"] = json.dumps({"foldline:theme": {"theme": chosen}})
    else:
        response = redirect_back(request)
    response.set_cookie(THEME_COOKIE, chosen, max_age=A_YEAR, httponly=True, samesite="Lax", secure=request.is_secure())
    return response
