"""Folders of the list of chats: made, named, opened and closed, deleted (their chats stay)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST

from chatapp.history import ordering
from chatapp.history.errors import HistoryError
from chatapp.models import Folder
from chatapp.views.answering import PersonRequest, answer_listed, answer_refusal


@login_required
@require_POST
def make(request: PersonRequest) -> HttpResponse:
    try:
        ordering.make_folder(owner_id=request.user.pk, name=request.POST.get("name", ""))
    except HistoryError as refused:
        return answer_refusal(request, refused.code, status=422)
    return answer_listed(request)


@login_required
@require_http_methods(["GET", "POST"])
def folder(request: PersonRequest, folder_id: int) -> HttpResponse:
    """Its menu, or a page of the same; renamed by POST."""
    shown = _folder_or_404(request, folder_id)
    if request.method == "GET":
        return render(request, "order/_folder.html" if request.htmx else "order/folder.html", {"folder": shown})
    try:
        ordering.rename_folder(owner_id=request.user.pk, folder_id=shown.pk, name=request.POST.get("name", ""))
    except HistoryError as refused:
        return answer_refusal(request, refused.code, status=422)
    return answer_listed(request)


@login_required
@require_POST
def open_or_close(request: PersonRequest, folder_id: int) -> HttpResponse:
    shown = _folder_or_404(request, folder_id)
    is_open = request.POST.get("open") != "0"
    ordering.open_folder(owner_id=request.user.pk, folder_id=shown.pk, is_open=is_open)
    return answer_listed(request)


@login_required
@require_POST
def delete(request: PersonRequest, folder_id: int) -> HttpResponse:
    """Not asked back: nothing but the name is lost."""
    shown = _folder_or_404(request, folder_id)
    ordering.delete_folder(owner_id=request.user.pk, folder_id=shown.pk)
    return answer_listed(request)


def _folder_or_404(request: PersonRequest, folder_id: int) -> Folder:
    shown: Folder = get_object_or_404(Folder.objects.for_user(request.user), pk=folder_id)
    return shown
