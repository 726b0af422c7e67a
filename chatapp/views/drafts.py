"""Drafts: saved a moment after typing stops, put back into the box on whatever device; and over a sign-in between."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from chatapp import unsent
from chatapp.fields import LONGEST_TEXT, number_in
from chatapp.files.limits import MOST_FILES
from chatapp.files.unusable import Unusable
from chatapp.history import drafts, loading
from chatapp.history.texts import as_typed
from chatapp.models import Chat, SiteSettings
from chatapp.presenting.drafts import view_draft
from chatapp.views.answering import PersonRequest, answer_refusal, chat_or_404
from chatapp.views.attaching import Chosen, chosen_files, known_files
from chatapp.views.seals import person_in
from chatapp.views.settings import refuse_start, settings_of_new_chat

View = Callable[..., HttpResponse]


def draft_context(request: PersonRequest, chat: Chat | None) -> dict[str, Any]:
    """What stands in the box as the page opens."""
    draft = drafts.draft_of(request.user.pk, chat.pk if chat else None)
    return view_draft(draft)


def kept_over_sign_in(view: View) -> View:
    """A form without JavaScript whose session has ended: the text is put by, and is in the box after signing in.

    Only for somebody who was signed in on that page, and only for the same person again.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        is_htmx = "HX-Request" in request.headers
        if request.user.is_authenticated or is_htmx or request.method != "POST":
            return view(request, *args, **kwargs)
        chat_id = kwargs.get("chat_id")
        page = reverse("chat", args=[chat_id]) if chat_id else reverse("home")
        person = person_in(request.POST.get("person_seal", ""))
        if person is None:
            return redirect_to_login(page)
        text, files = request.POST.get("text", ""), request.POST.getlist("file")
        unsent.put_by(request, person=person, chat_id=chat_id, text=text, files=files)
        return redirect_to_login(page)

    return guarded


@kept_over_sign_in
@login_required
@require_POST
def save(request: PersonRequest, chat_id: UUID | None = None) -> HttpResponse:
    """Quietly: nothing of the page changes. A form without JavaScript brings its files, and comes back to its page."""
    chat = chat_or_404(request, chat_id) if chat_id else None
    text = as_typed(request.POST.get("text", ""))
    if len(text) > LONGEST_TEXT:
        return HttpResponse(status=413)
    is_form = "back" in request.POST
    site = SiteSettings.get_solo()
    model = loading.model_of(chat, site) if chat else loading.default_model(site)
    chosen = chosen_files(request, model=model) if is_form else Chosen(known_files(request))
    drafts.save_draft(
        owner_id=request.user.pk,
        chat_id=chat.pk if chat else None,
        text=text,
        file_ids=chosen.ids[:MOST_FILES],
        typed_at=_typed_at(request),
    )
    if chosen.problem:
        return _say_problem(request, chat, chosen.problem)
    return redirect(chat or "home") if is_form else HttpResponse(status=204)


def _say_problem(request: PersonRequest, chat: Chat | None, problem: Unusable) -> HttpResponse:
    """What could be kept is in the box again."""
    told: dict[str, Any] = {"file_name": problem.name or "…", **draft_context(request, chat)}
    if chat:
        return answer_refusal(request, problem.code, chat=chat, status=422, **told)
    return refuse_start(request, problem.code, settings_of_new_chat(request.POST), **told)


def _typed_at(request: PersonRequest) -> datetime:
    """By the age of the last key, which a page knows also where its clock is wrong, or the page is an old one."""
    age = number_in(request.POST.get("age"), digits=11) or 0
    return timezone.now() - timedelta(milliseconds=age)
