"""What makes another path of a message: an edit with a new reply or without one, a first reply, a fork."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from chatapp import runs
from chatapp.history import editing, forking, loading, metering
from chatapp.history.attaching import files_of, kept_files
from chatapp.history.errors import HistoryError
from chatapp.leases import PROCESS
from chatapp.models import Chat, Message, SiteSettings
from chatapp.views.answering import PersonRequest, answer_changes, answer_command, answer_refusal, chat_or_404
from chatapp.views.turns import MessageForm

EDITED = '{"foldline:edited": {}}'


@login_required
@require_http_methods(["GET", "POST"])
def edit_message(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """A form in the message's place, a page otherwise. `how` says what is done: "answer" or "save"."""
    chat = chat_or_404(request, chat_id)
    if request.method == "GET":
        shown = chat.messages.filter(active=True, role=Message.Role.USER, deleted_at=None)
        message = get_object_or_404(shown, pk=message_id)
        return _edit_form(request, chat, message_id, text=message.content, key=uuid4().hex)
    ticked = request.POST.getlist("file") if "shows_files" in request.POST else None
    files = kept_files(chat, message_id, ticked=ticked)
    form = MessageForm(request.POST, files=files)
    if not form.is_valid():
        return _refuse_edit(request, form.refusal(), chat, message_id, status=422)
    site = SiteSettings.get_solo()
    limits = loading.limits_of(loading.model_of(chat, site), site)
    if not metering.fits(chat.system_prompt, limits, form.cleaned_data["text"], files):
        return _refuse_edit(request, "larger_than_window", chat, message_id, status=422)
    try:
        _carry_out(request.POST.get("how", ""), chat, message_id, form)
    except HistoryError as refused:
        return _refuse_edit(request, refused.code, chat, message_id, status=409, **refused.facts)
    return answer_changes(request, chat.pk, trigger=EDITED)


def _carry_out(how: str, chat: Chat, message_id: int, form: MessageForm) -> None:
    wording = {
        "chat_id": chat.pk,
        "message_id": message_id,
        "text": form.cleaned_data["text"],
        "idempotency_key": form.cleaned_data["idempotency_key"],
        "keeps_files": [file.pk for file in form.attached],
    }
    if how == "save":
        editing.save_edited(**wording)
    else:
        runs.start(editing.begin_edited(**wording, by=PROCESS))


def _refuse_edit(
    request: PersonRequest, code: str, chat: Chat, message_id: int, *, status: int, **facts: Any
) -> HttpResponse:
    """What was typed stays in the form."""
    if request.htmx:
        return answer_refusal(request, code, status=status, **facts)
    typed = {"text": request.POST.get("text", ""), "key": request.POST.get("idempotency_key", "")}
    return _edit_form(request, chat, message_id, **typed, composer_error=code, status=status, **facts)


def _edit_form(request: PersonRequest, chat: Chat, message_id: int, *, status: int = 200, **facts: Any) -> HttpResponse:
    archived = chat.messages.up_to_boundary(chat.compacted_through).filter(pk=message_id)
    files = files_of(chat.messages.filter(pk=message_id)).get(message_id, [])
    context = {"chat": chat, "message_id": message_id, "is_archived": archived.exists(), "files": files, **facts}
    template = "chat/_edit_message.html" if request.htmx else "chat/edit_message.html"
    return render(request, template, context, status=status)


@login_required
@require_POST
def answer(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """The first reply to a message that ends the chat without one."""
    return answer_command(request, chat_id, editing.begin_answer, then=runs.start, message_id=message_id, by=PROCESS)


@login_required
@require_POST
def fork(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """A new chat with everything up to and with that message."""
    chat = chat_or_404(request, chat_id)
    try:
        copy = forking.fork(chat_id=chat.pk, message_id=message_id)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat)
    if not request.htmx:
        return redirect(copy)
    return HttpResponse(headers={"HX-Redirect": copy.get_absolute_url()})
