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

from chatapp.fields import LONGEST_TEXT
from chatapp.history import drafts
from chatapp.history.texts import as_typed
from chatapp.models import Chat
from chatapp.presenting.drafts import view_draft
from chatapp.views.answering import PersonRequest, chat_or_404
from chatapp.views.attaching import known_files
from chatapp.views.seals import person_in

UNSENT = "unsent"
View = Callable[..., HttpResponse]


@login_required
@require_POST
def save(request: PersonRequest, chat_id: UUID | None = None) -> HttpResponse:
    """Quietly: nothing of the page changes. A form without JavaScript comes back to where it was."""
    chat = chat_or_404(request, chat_id) if chat_id else None
    text = as_typed(request.POST.get("text", ""))
    if len(text) > LONGEST_TEXT:
        return HttpResponse(status=413)
    drafts.save_draft(
        owner_id=request.user.pk,
        chat_id=chat.pk if chat else None,
        text=text,
        file_ids=[file.pk for file in known_files(request)],
        typed_at=_typed_at(request),
    )
    return redirect(chat or "home") if "back" in request.POST else HttpResponse(status=204)


def _typed_at(request: PersonRequest) -> datetime:
    """By the age of the last key, which a page knows also where its clock is wrong, or the page is an old one."""
    age = request.POST.get("age", "")
    is_known = age.isascii() and age.isdigit() and len(age) < 12
    return timezone.now() - timedelta(milliseconds=int(age) if is_known else 0)


def draft_context(request: PersonRequest, chat: Chat | None) -> dict[str, Any]:
    """What stands in the box as the page opens."""
    _take_back_unsent(request, chat)
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
        unsent = {"person": person, "chat": str(chat_id or ""), "text": request.POST.get("text", "")[:LONGEST_TEXT]}
        request.session[UNSENT] = unsent
        return redirect_to_login(page)

    return guarded


def _take_back_unsent(request: PersonRequest, chat: Chat | None) -> None:
    unsent = request.session.get(UNSENT)
    if not unsent:
        return
    is_theirs = unsent["person"] == str(request.user.pk)
    if is_theirs and unsent["chat"] != (str(chat.pk) if chat else ""):
        return  # another page first
    del request.session[UNSENT]
    if is_theirs:
        drafts.save_draft(owner_id=request.user.pk, chat_id=chat.pk if chat else None, text=as_typed(unsent["text"]))
