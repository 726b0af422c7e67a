"""A person's account: where they are signed in."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chatapp import auditing, presenting, sign_ins
from chatapp.views.answering import PersonRequest


@login_required
@never_cache
@require_GET
def devices(request: PersonRequest) -> HttpResponse:
    listed = presenting.read_devices(sign_ins.of_person(request.user), request.session.session_key)
    return render(request, "account/devices.html", {"devices": listed})


@login_required
@require_POST
def end_device(request: PersonRequest, sign_in_id: int) -> HttpResponse:
    return _ended(request, sign_ins.end(user=request.user, sign_in_id=sign_in_id))


@login_required
@require_POST
def end_other_devices(request: PersonRequest) -> HttpResponse:
    return _ended(request, sign_ins.end_all(request.user, but=request.session.session_key))


def _ended(request: PersonRequest, count: int) -> HttpResponse:
    """0 for a stranger's, a random id, or one that has ended by itself meanwhile: all are told alike."""
    if count:
        auditing.record(auditing.Action.SESSIONS_ENDED, request=request, detail=str(count))
    told = ngettext("%(count)s browser was signed out.", "%(count)s browsers were signed out.", count)
    messages.info(request, told % {"count": count} if count else gettext("It was signed out already."))
    return redirect("devices")
