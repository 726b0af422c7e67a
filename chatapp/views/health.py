"""What is asked by whoever watches this process: does it live, and should it be given requests."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from chatapp import readiness


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while the process answers at all. It asks no database: to start a process again mends none."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when it should be given requests, 503 otherwise and from SIGTERM on; the JSON says what was checked."""
    checks = readiness.here.look()
    ready = readiness.is_ready(checks)
    return JsonResponse({"status": "ready" if ready else "not ready", "checks": checks}, status=200 if ready else 503)
