"""Where a person keeps one chat: pinned, archived, in a folder, under tags, or no longer temporary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chatapp.fields import number_in
from chatapp.history import ordering, temporary
from chatapp.history.errors import HistoryError
from chatapp.models import Chat, Folder, Tag
from chatapp.views.answering import PersonRequest, answer_listed, answer_refusal, chat_or_404


@login_required
@require_GET
def order(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """Its menu in the list of chats; a page where that isn't asked for by htmx."""
    chat = chat_or_404(request, chat_id)
    context = {
        "chat": chat,
        "folders": Folder.objects.for_user(request.user).by_name(),
        "tags": Tag.objects.filter(chats=chat).by_name(),
        "known_tags": Tag.objects.for_user(request.user).in_use().exclude(chats=chat).by_name(),
    }
    return render(request, "order/_chat.html" if request.htmx else "order/chat.html", context)


@login_required
@require_POST
def pin_chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    return _ordered(request, chat_id, lambda chat: _pin(chat, pinned=request.POST.get("pinned") != "0"))


@login_required
@require_POST
def archive_chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    archived = request.POST.get("archived") != "0"
    return _ordered(request, chat_id, lambda chat: ordering.archive_chats(**_alone(chat), archived=archived))


@login_required
@require_POST
def move_chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    folder_id = folder_in(request)
    return _ordered(request, chat_id, lambda chat: ordering.move_chats(**_alone(chat), folder_id=folder_id))


@login_required
@require_POST
def tag_chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """`untag` takes one away, `tag` adds one."""
    if name := request.POST.get("untag"):
        return _ordered(request, chat_id, lambda chat: ordering.untag_chat(chat_id=chat.pk, name=name))
    typed = request.POST.get("tag", "")
    return _ordered(request, chat_id, lambda chat: ordering.tag_chats(**_alone(chat), name=typed))


@login_required
@require_POST
def keep_chat(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    return _ordered(request, chat_id, lambda chat: temporary.keep_chat(chat_id=chat.pk))


def folder_in(request: PersonRequest) -> int | None:
    """0, which is nobody's, for nonsense; None for nothing, which is out of every folder."""
    raw = request.POST.get("folder", "")
    return (number_in(raw) or 0) if raw else None


def _pin(chat: Chat, *, pinned: bool) -> None:
    ordering.pin_chat(chat_id=chat.pk, pinned=pinned)


def _alone(chat: Chat) -> dict[str, Any]:
    return {"owner_id": chat.owner_id, "chat_ids": [chat.pk]}


def _ordered(request: PersonRequest, chat_id: UUID, command: Callable[[Chat], object]) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    try:
        command(chat)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat)
    return answer_listed(request, chat.pk)
