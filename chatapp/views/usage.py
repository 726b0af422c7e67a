"""Where a person stands: what they have used today, and what they may."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from chatapp.history import allowing
from chatapp.views.answering import PersonRequest


@login_required
@require_GET
def usage(request: PersonRequest) -> HttpResponse:
    owner_id = request.user.pk
    context = {
        "limits": allowing.limits_of(owner_id),
        "reached": allowing.reached_by(owner_id),
        "periods": [{"days": days, **allowing.use_of_days(owner_id, days)} for days in (1, 30)],
        "ends_at": allowing.end_of_day(),
    }
    return render(request, "usage/page.html", context)
