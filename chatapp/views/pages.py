"""The pages: home, a chat, older messages of either side of the boundary, what changed since."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatapp import presenting
from chatapp.fields import number_in
from chatapp.models import Chat
from chatapp.views.answering import (
    NOTICE_COOKIE,
    PersonRequest,
    chat_or_404,
    page_context,
    redirect_back,
    seen_by,
)
from chatapp.views.drafts import draft_context
from chatapp.views.settings import settings_of_new_chat


@login_required
@require_GET
def home(request: PersonRequest) -> HttpResponse:
    context = _opened(request, None) | {"settings": settings_of_new_chat()}
    if context["sidebar"].is_empty:
        context["examples"] = presenting.EXAMPLES
    chosen = _number(request, "example")  # without JavaScript; with it, a click fills the box where it is
    if chosen and chosen <= len(presenting.EXAMPLES):
        context |= {"draft": presenting.EXAMPLES[chosen - 1], "draft_at": 0}
    return render(request, "chat/page.html", context)


@login_required
@require_GET
def chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    shown = chat_or_404(request, chat_id)
    context = _opened(request, shown)
    if "archived" in request.GET:  # the divider's link, for a browser without JavaScript
        context["archived"] = presenting.read_archived(shown, presenting.Place())
    position = _number(request, "m")
    if position is not None:  # a link to a message, which may be behind the divider or above the first paint
        context |= presenting.read_linked(shown, position, first_shown=context["earlier_before"])
    if "here" in request.GET:  # Find in this chat
        context["finding"] = presenting.read_finding(shown, request.GET["here"], position)
    return render(request, "chat/page.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def changes(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """What the socket would push, for a page whose socket is blocked. A POST says that it is shown, and so read."""
    shown = chat_or_404(request, chat_id)
    is_shown = request.method == "POST"
    _, html = presenting.read_changes(request.user, shown.pk, seen_by(request), is_shown=is_shown)
    return redirect(shown) if is_shown and not request.htmx else HttpResponse(html)


@login_required
@require_GET
def archived(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    shown = chat_or_404(request, chat_id)
    older = presenting.read_archived(shown, _place(request))
    if not request.htmx:
        return render(request, "chat/page.html", _opened(request, shown) | {"archived": older})
    return render(request, "chat/_archived.html", {"chat": shown, "archived": older})


@login_required
@require_GET
def earlier(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    shown = chat_or_404(request, chat_id)
    older = presenting.read_earlier(shown, _place(request))
    if not request.htmx:
        context = _opened(request, shown) | {"messages": older.messages, "earlier_before": older.before}
        return render(request, "chat/page.html", context)
    return render(request, "chat/_earlier.html", {"chat": shown, "earlier": older})


@login_required
@require_GET
def printed(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """The whole chat on one page, what is behind the divider too, for paper or a browser's own search (rule K1)."""
    shown = chat_or_404(request, chat_id)
    return render(request, "chat/printed.html", presenting.read_whole(shown.pk).context())


@login_required
@require_POST
def dismiss_notice(request: PersonRequest) -> HttpResponse:
    """The word about the demo model is said once a browser."""
    response = HttpResponse() if request.htmx else redirect_back(request)
    response.set_cookie(NOTICE_COOKIE, "seen", max_age=31_536_000, httponly=True, samesite="Lax")
    return response


def _opened(request: PersonRequest, chat: Chat | None) -> dict[str, Any]:
    """What a whole page shows that isn't the answer to a form: with the draft in its box."""
    return page_context(request, chat) | draft_context(request, chat)


def _place(request: PersonRequest) -> presenting.Place:
    return presenting.Place(
        before=_number(request, "before"), after=_number(request, "after"), until=_number(request, "until")
    )


def _number(request: PersonRequest, name: str) -> int | None:
    return number_in(request.GET.get(name), digits=9)
