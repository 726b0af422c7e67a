"""What the model is sent, and what a person decides about it: pins, a fresh start, the policy, a summary by hand."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatapp import requesting
from chatapp.history import compactions, loading, wishes
from chatapp.history.errors import HistoryError
from chatapp.history.texts import as_typed
from chatapp.models import Chat, Compaction, SiteSettings
from chatapp.views.answering import PersonRequest, answer_changes, answer_command, answer_refusal, chat_or_404
from chatapp.views.attaching import pending_in


@login_required
@require_http_methods(["GET", "POST"])
def what_is_sent(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """The exact next request, part by part; a fragment for htmx, a page otherwise.

    A POST brings the text that is being typed: shown as the last part, never stored, and in no address.
    """
    chat = chat_or_404(request, chat_id)
    template = "chat/_request.html" if request.htmx else "chat/request.html"
    typed = pending_in(request, model=loading.model_of(chat, SiteSettings.get_solo()))
    return render(request, template, {"chat": chat, "sent": requesting.read_request(chat.pk, **typed)})


@login_required
@require_GET
def earlier_compactions(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """Every compaction of the chat, its summary too (rule I4)."""
    chat = chat_or_404(request, chat_id)
    return render(request, "chat/compactions.html", {"chat": chat, "compactions": requesting.read_compactions(chat)})


@login_required
@require_POST
def pin(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    return answer_command(request, chat_id, wishes.pin, message_id=message_id, pinned=request.POST.get("pinned") == "1")


@login_required
@require_POST
def start_fresh(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    return answer_command(request, chat_id, wishes.start_fresh, message_id=message_id, user_id=request.user.pk)


@login_required
@require_POST
def choose_policy(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    policy = request.POST.get("policy", "")
    if policy not in Chat.Policy.values:
        return answer_refusal(request, "malformed", chat=chat, status=422)
    wishes.choose_policy(chat_id=chat.pk, policy=Chat.Policy(policy))
    return answer_changes(request, chat.pk)


@login_required
@require_http_methods(["GET", "POST"])
def edit_summary(request: PersonRequest, chat_id: UUID, compaction_id: int) -> HttpResponse:
    """The current segment by hand; an empty text brings the model's version back."""
    chat = chat_or_404(request, chat_id)
    summarised = chat.compactions.applied().exclude(mode=Compaction.Mode.FRESH)
    compaction = get_object_or_404(summarised, pk=compaction_id)
    form = {"chat": chat, "compaction": compaction, "text": compaction.summary}
    if request.method == "GET":
        return render(request, "chat/edit_summary.html", form)
    text = as_typed(request.POST.get("text", ""))
    try:
        compactions.edit_summary(chat_id=chat.pk, compaction_id=compaction_id, text=text)
    except HistoryError as refused:  # what was typed stays in the form
        context = form | {"text": text, "composer_error": refused.code}
        return render(request, "chat/edit_summary.html", context, status=409)
    return answer_changes(request, chat.pk)
