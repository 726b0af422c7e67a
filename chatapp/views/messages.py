"""What a person does to one message: delete it (asked back), take that back, have the record written without it."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from chatapp import runs
from chatapp.history import deleting, rebuilding
from chatapp.history.errors import NotPossible
from chatapp.leases import PROCESS
from chatapp.views.answering import PersonRequest, answer_command, chat_or_404


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """Asked back by GET, in the sheet or on a page of its own; done by POST."""
    if request.method == "POST":
        following = request.POST.get("following") == "1"
        return answer_command(
            request, chat_id, deleting.delete_message, message_id=message_id, with_following=following
        )
    chat = chat_or_404(request, chat_id)
    try:
        deletion = deleting.weigh_deletion(chat, message_id)
    except NotPossible as gone:
        raise Http404 from gone
    template = "chat/_delete_message.html" if request.htmx else "chat/delete_message.html"
    return render(request, template, {"chat": chat, "deletion": deletion})


@login_required
@require_POST
def restore(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    return answer_command(request, chat_id, deleting.restore_message, message_id=message_id)


@login_required
@require_POST
def rebuild(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """The record without what was deleted; also the Retry of one that failed."""
    return answer_command(
        request,
        chat_id,
        rebuilding.begin_rebuild,
        then=runs.start_compaction,
        by=PROCESS,
        user_id=request.user.pk,
    )
