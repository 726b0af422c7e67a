"""The list of chats as a fragment, what is done to many of them at once, and those that were archived."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from chatapp import archives, auditing, events, presenting, runs
from chatapp.fields import uuid_in
from chatapp.history import chats, ordering, turns
from chatapp.history.errors import HistoryError, NotPossible
from chatapp.models import Chat
from chatapp.models.chats import ChatQuerySet
from chatapp.views.answering import PersonRequest, answer_listed, answer_refusal
from chatapp.views.archives import download_json
from chatapp.views.ordering import folder_in

ARCHIVED_ON_A_PAGE = 50


@login_required
@require_GET
def list_chats(request: PersonRequest) -> HttpResponse:
    """The list in the state that its page has it in; with `older` what comes after that."""
    asked = request.GET.dict()
    place = presenting.place_asked(asked, current_id=uuid_in(asked.get("chat")))
    sidebar = presenting.read_sidebar(request.user, place)
    fragment = "chat/_sidebar_days.html" if sidebar.place.older and request.htmx else "chat/_sidebar_chats.html"
    return render(request, fragment, {"sidebar": sidebar})


@login_required
@require_GET
def archived_chats(request: PersonRequest) -> HttpResponse:
    listed = Chat.objects.for_user(request.user).archived().for_list().order_by("-archived_at", "-pk")
    page = Paginator(listed, ARCHIVED_ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "order/archived.html", {"page": page})


@login_required
@require_POST
def change_many(request: PersonRequest) -> HttpResponseBase:
    """One of archive, move, tag, export, delete with every chat that is ticked; deleting is asked back."""
    ids = [chat_id for chat_id in map(uuid_in, request.POST.getlist("chat")) if chat_id]
    chosen = Chat.objects.for_user(request.user).filter(pk__in=ids)
    how = request.POST.get("how", "")
    if not chosen.exists():
        return answer_refusal(request, "none_selected", status=422)
    if how == "export":
        name = archives.file_name(f"selected {timezone.localdate().isoformat()}", "json")
        return download_json(request, list(chosen.order_by("created_at", "pk").values_list("pk", flat=True)), name)
    if how == "delete":
        return _delete_many(request, chosen)
    try:
        _keep_many(request, how, list(chosen.values_list("pk", flat=True)))
    except HistoryError as refused:
        return answer_refusal(request, refused.code, status=422)
    return answer_listed(request)


def _keep_many(request: PersonRequest, how: str, ids: list[UUID]) -> None:
    owner_id = request.user.pk
    if how == "archive":
        ordering.archive_chats(owner_id=owner_id, chat_ids=ids, archived=True)
    elif how == "move":
        folder_id = folder_in(request)
        ordering.move_chats(owner_id=owner_id, chat_ids=ids, folder_id=folder_id)
    elif how == "tag":
        ordering.tag_chats(owner_id=owner_id, chat_ids=ids, name=request.POST.get("tag", ""))
    else:
        raise NotPossible("malformed")


def _delete_many(request: PersonRequest, chosen: ChatQuerySet) -> HttpResponse:
    if "sure" not in request.POST:
        listed = list(chosen.for_list().newest_first())
        return render(request, "order/confirm_delete.html", {"chats": listed, "count": len(listed)})
    for chat_id in chosen.values_list("pk", flat=True):
        if run := turns.request_stop(chat_id=chat_id):
            runs.stop(run)
    ids = list(chosen.values_list("pk", flat=True))
    chats.delete_chats(owner_id=request.user.pk, chat_ids=ids)
    auditing.record(auditing.Action.CHATS_DELETED, request=request, detail=str(len(ids)))
    for chat_id in ids:
        events.wake(chat_id)
    events.wake_list(request.user.pk)
    return redirect("home")
