"""How every command answers: fragments for htmx, the page itself for a plain form, a sentence for a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from chatapp import events, presenting
from chatapp.history.errors import HistoryError
from chatapp.models import Chat
from chatapp.views.seals import seal_of


class PersonRequest(HttpRequest):
    """What a view behind login_required gets; django-htmx's middleware adds `htmx`."""

    user: User
    htmx: HtmxDetails


def chat_or_404(request: PersonRequest, chat_id: UUID) -> Chat:
    """The only way from an address to a chat: a stranger's id answers like a random one."""
    return get_object_or_404(Chat.objects.for_user(request.user), pk=chat_id)


def answer_changes(request: PersonRequest, chat_id: UUID, *, trigger: str = "") -> HttpResponse:
    """After a command: what changed since the page's revision; every other open page is woken."""
    events.wake(chat_id)
    if not request.htmx:
        return redirect("chat", chat_id)
    _, html = presenting.read_changes(request.user, chat_id, seen_by(request))
    response = HttpResponse(html)
    response["HX-Reswap"] = "none"
    if trigger:
        response["HX-Trigger"] = trigger
    return response


def answer_command(
    request: PersonRequest,
    chat_id: UUID,
    command: Callable[..., Any],
    *,
    then: Callable[[Any], object] | None = None,
    **facts: Any,
) -> HttpResponse:
    """One of history's commands on a chat, with `facts`; `then` takes up what it began. A refusal is a sentence."""
    chat = chat_or_404(request, chat_id)
    try:
        begun = command(chat_id=chat.pk, **facts)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    if then:
        then(begun)
    return answer_changes(request, chat.pk)


def answer_listed(request: PersonRequest, chat_id: UUID | None = None) -> HttpResponse:
    """After a command that changes what lists of chats show: every page of the person fetches its list anew.

    Asked for beside a chat's own page it is answered by that alone, on it by what changed there as well.
    """
    events.wake_list(request.user.pk)
    if chat_id and "seen" in request.POST:
        return answer_changes(request, chat_id)
    if chat_id:
        events.wake(chat_id)
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Trigger": "foldline:listed"})
    return redirect_back(request)


def redirect_back(request: HttpRequest) -> HttpResponse:
    """To the page on which a plain form was sent, if it says so and is one of ours."""
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return redirect(back if is_ours else "home")


def answer_refusal(
    request: PersonRequest, code: str, *, chat: Chat | None = None, draft: str = "", status: int = 409, **facts: Any
) -> HttpResponse:
    """Why nothing was done; what was typed stays in the box."""
    context = {"composer_error": code, "draft": draft, **facts}
    if request.htmx:
        return render(request, "chat/_composer_error.html", context, status=status)
    return render(request, "chat/page.html", page_context(request, chat) | context, status=status)


def page_context(request: PersonRequest, chat: Chat | None) -> dict[str, Any]:
    context = presenting.read_page(chat.pk).context() if chat else presenting.empty_page()
    model = context["current_model"]
    context["shortcuts"] = presenting.SHORTCUTS
    place = presenting.place_asked(request.GET.dict(), current_id=chat.pk if chat else None)
    context["sidebar"] = presenting.read_sidebar(request.user, place)
    context["idempotency_key"] = uuid4().hex
    context["person_seal"] = seal_of(request.user.pk)
    context["show_demo_notice"] = bool(model and model.endpoint.is_demo and not request.COOKIES.get(NOTICE_COOKIE))
    return context


NOTICE_COOKIE = "foldline_notice"


def seen_by(request: PersonRequest) -> int:
    """The revision that the asking page shows; 0, and so everything, where it doesn't say or says nonsense."""
    return presenting.revision_in(request.POST.get("seen") or request.GET.get("seen", ""))
