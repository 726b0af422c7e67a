"""What lets Foldline be installed: manifest, service worker, and the page that it shows while the server is away."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

ICONS = [("icon-192", 192, "any"), ("icon-512", 512, "any"), ("icon-maskable-512", 512, "maskable")]
OFFLINE = "offline.html"
# All that the offline page shows itself with.
ITS_FILES = ("css/tokens.css", "css/base.css", "css/account.css", "favicon.svg")


@require_safe
@cache_control(max_age=3600)
def manifest(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 (a view)
    told = {
        "id": reverse("home"),
        "name": "Foldline",
        "short_name": "Foldline",
        "description": gettext("A chat that keeps every message and never runs out of room."),
        "start_url": reverse("home"),
        "scope": reverse("home"),
        "display": "standalone",
        "background_color": "#fcfaf5",
        "theme_color": "#fcfaf5",
        "icons": [
            {"src": static(f"icons/{name}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
            for name, size, purpose in ICONS
        ],
    }
    return JsonResponse(told, content_type="application/manifest+json")


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """The same for everybody, and without anything of anybody: a browser keeps it."""
    return render(request, OFFLINE)


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """At the root, so that it covers every page; its version is that of what it keeps."""
    kept = [reverse("offline"), *map(static, ITS_FILES)]
    version = hashlib.sha256("\n".join([render_to_string(OFFLINE), *kept]).encode()).hexdigest()[:12]
    context = {"kept": kept, "version": version}
    return render(request, "service_worker.js", context, content_type="text/javascript")
