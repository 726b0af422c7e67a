"""Chats out as files, and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods

from chatapp import archives
from chatapp.archives import Candidate, Unreadable, read_archive
from chatapp.database import in_database
from chatapp.history.importing import import_chat
from chatapp.models import Chat
from chatapp.views.answering import PersonRequest, chat_or_404


@login_required
@require_GET
def export_chat(request: PersonRequest, chat_id: UUID) -> HttpResponseBase:
    """One chat, complete: what an import reads."""
    chat = chat_or_404(request, chat_id)
    return _download(archives.stream_json([chat.pk]), archives.file_name(chat.title, "json"), "application/json")


@login_required
@require_GET
def export_markdown(request: PersonRequest, chat_id: UUID) -> HttpResponseBase:
    """What is on the active path, to be read."""
    chat = chat_or_404(request, chat_id)
    pieces = _later(archives.chat_markdown, chat.pk)
    return _download(pieces, archives.file_name(chat.title, "md"), "text/markdown; charset=utf-8")


@login_required
@require_GET
def export_all(request: PersonRequest) -> HttpResponseBase:
    """Every chat of the person in one file, the oldest first."""
    chats = Chat.objects.for_user(request.user).order_by("created_at", "pk")
    name = archives.file_name(f"all {timezone.localdate().isoformat()}", "json")
    return _download(archives.stream_json(list(chats.values_list("pk", flat=True))), name, "application/json")


@login_required
@require_http_methods(["GET", "POST"])
def import_chats(request: PersonRequest) -> HttpResponse:
    """A file is read whole, then each good chat is stored by itself; what is left out is told."""
    if request.method == "GET":
        return render(request, "archives/import.html")
    file = request.FILES.get("file")
    if file is None:
        return _refuse(request, "no_file")
    if (file.size or 0) > settings.IMPORT_LIMIT_BYTES:
        return _refuse(request, "too_large")
    try:
        candidates = read_archive(file.read(), owner_id=request.user.pk)
    except Unreadable as unreadable:
        return _refuse(request, unreadable.code)
    return render(request, "archives/import.html", {"is_done": True, **_store(candidates)})


def _store(candidates: list[Candidate]) -> dict[str, object]:
    imported, known = [], 0
    for candidate in candidates:
        if candidate.original is None:
            continue
        chat = import_chat(candidate.original, key=candidate.key)
        imported.extend([chat] if chat else [])
        known += chat is None
    return {"imported": imported, "known": known, "left_out": [each for each in candidates if each.problem]}


def _refuse(request: PersonRequest, code: str) -> HttpResponse:
    return render(request, "archives/import.html", {"problem": code}, status=422)


async def _later(read: Callable[[UUID], Iterable[str]], chat_id: UUID) -> AsyncIterator[str]:
    for piece in await in_database(read, chat_id):
        yield piece


def _download(pieces: AsyncIterator[str], name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "no-store"
    return response
