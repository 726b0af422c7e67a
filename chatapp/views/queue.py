"""What is done to a message that waits for a reply to end: send it now, edit it, discard it."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from chatapp import runs
from chatapp.history import queueing
from chatapp.history.errors import HistoryError, NotPossible
from chatapp.leases import PROCESS
from chatapp.models import File, Run
from chatapp.views.answering import PersonRequest, answer_changes, answer_refusal, chat_or_404, page_context
from chatapp.views.attaching import known_files


@login_required
@require_POST
def send_now(request: PersonRequest, chat_id: UUID, queued_id: int) -> HttpResponse:
    """It goes first; a reply that is being written is stopped for it, its text so far kept."""
    chat = chat_or_404(request, chat_id)
    try:
        begun = queueing.send_now(chat_id=chat.pk, queued_id=queued_id, by=PROCESS)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    if isinstance(begun, Run):
        runs.stop(begun)
    else:
        runs.start(begun)
    return answer_changes(request, chat.pk)


@login_required
@require_POST
def edit(request: PersonRequest, chat_id: UUID, queued_id: int) -> HttpResponse:
    """Back into the box, behind what is typed there already; a page with JavaScript puts it there itself."""
    chat = chat_or_404(request, chat_id)
    typed = request.POST.get("text", "")
    try:
        text, file_ids = queueing.take_back(chat_id=chat.pk, queued_id=queued_id)
    except NotPossible as refused:
        return answer_refusal(request, refused.code, chat=chat, draft=typed, draft_files=known_files(request))
    answer = answer_changes(request, chat.pk)
    if request.htmx:
        return answer
    draft = f"{typed.rstrip()}\n\n{text}" if typed.strip() else text
    back = File.objects.for_user(request.user).without_content().in_bulk(file_ids)
    files = [*known_files(request), *(back[pk] for pk in file_ids)]
    return render(request, "chat/page.html", page_context(request, chat) | {"draft": draft, "draft_files": files})


@login_required
@require_POST
def discard(request: PersonRequest, chat_id: UUID, queued_id: int) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    try:
        queueing.take_back(chat_id=chat.pk, queued_id=queued_id)
    except NotPossible as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    return answer_changes(request, chat.pk)
