"""Chats out as files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from chatapp import archives, auditing
from chatapp.database import in_database
from chatapp.models import Chat
from chatapp.views.answering import PersonRequest, chat_or_404


@login_required
@require_GET
def export_chat(request: PersonRequest, chat_id: UUID) -> HttpResponseBase:
    """One chat, complete: what an import reads."""
    chat = chat_or_404(request, chat_id)
    return download_json(request, [chat.pk], archives.file_name(chat.title, "json"))


@login_required
@require_GET
def export_markdown(request: PersonRequest, chat_id: UUID) -> HttpResponseBase:
    """What is on the active path, to be read."""
    chat = chat_or_404(request, chat_id)
    in_this_language = translation.override(translation.get_language())
    pieces = _later(in_this_language(archives.chat_markdown), chat.pk)
    _note(request, [chat.pk])
    return _download(pieces, archives.file_name(chat.title, "md"), "text/markdown; charset=utf-8")


@login_required
@require_GET
def export_all(request: PersonRequest) -> HttpResponseBase:
    """Every chat of the person in one file, the oldest first, and what else they have here."""
    beside = archives.account_pieces(request.user.pk)
    return download_json(request, _all_of(request), _name_of_all("json"), beside=beside)


@login_required
@require_GET
def export_all_markdown(request: PersonRequest) -> HttpResponseBase:
    chat_ids = _all_of(request)
    pieces = archives.stream_markdown_zip(chat_ids, language=translation.get_language())
    _note(request, chat_ids)
    return _download(pieces, _name_of_all("zip"), "application/zip")


def _all_of(request: PersonRequest) -> list[UUID]:
    """Their ids alone: each chat is read when its turn comes. Temporary ones are to be gone and stay out."""
    chats = Chat.objects.for_user(request.user).kept()
    return list(chats.order_by("created_at", "pk").values_list("pk", flat=True))


def _name_of_all(ending: str) -> str:
    return archives.file_name(f"all {timezone.localdate().isoformat()}", ending)


def download_json(
    request: PersonRequest, chat_ids: list[UUID], name: str, *, beside: AsyncIterator[str] | None = None
) -> HttpResponseBase:
    """Chats in one file, in this order."""
    _note(request, chat_ids)
    return _download(archives.stream_json(chat_ids, beside=beside), name, "application/json")


def _note(request: PersonRequest, chat_ids: list[UUID]) -> None:
    auditing.record(auditing.Action.EXPORTED, request=request, target="chats", detail=str(len(chat_ids)))


async def _later(read: Callable[[UUID], Iterable[str]], chat_id: UUID) -> AsyncIterator[str]:
    for piece in await in_database(read, chat_id):
        yield piece


def _download(pieces: AsyncIterator[str] | AsyncIterator[bytes], name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "no-store"
    return response
