"""The search field, its results as one types and as a page, and the palette that jumps between chats."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from chatapp import presenting, searching
from chatapp.views.answering import PersonRequest, chat_or_404


@login_required
@require_GET
def search(request: PersonRequest) -> HttpResponse:
    """A page; for htmx what stands in the list of chats while something is in the field."""
    text = request.GET.get("q", "")
    context = {"text": text, "is_asked": bool(text.strip()), "hits": searching.search(request.user, text)}
    return render(request, "search/_found.html" if request.htmx else "search/page.html", context)


@login_required
@require_GET
def find_here(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """As one types into the field under a chat's header."""
    finding = presenting.read_finding(chat_or_404(request, chat_id), request.GET.get("here", ""), None)
    return render(request, "search/_found_here.html", {"finding": finding})


@login_required
@require_GET
def find_chats(request: PersonRequest) -> HttpResponse:
    """For the palette: chats by title, the newest where nothing is typed."""
    text = request.GET.get("q", "")
    context = {"text": text, "chats": searching.find_chats(request.user, text)}
    return render(request, "search/_palette_chats.html", context)
