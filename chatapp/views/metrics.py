"""What Prometheus fetches of this process."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures for whoever has METRICS_TOKEN; for all others, and where none is set, there is no such page."""
    said = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not constant_time_compare(said, f"Bearer {settings.METRICS_TOKEN}"):
        raise Http404
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
