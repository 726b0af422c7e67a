"""What a person does to a chat as a whole: rename, delete (asked back), choose its model."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from chatapp import runs
from chatapp.history import chats, turns
from chatapp.history.errors import HistoryError
from chatapp.models import LanguageModel
from chatapp.views.answering import PersonRequest, answer_changes, answer_refusal, chat_or_404


class TitleForm(forms.Form):
    title = forms.CharField(max_length=200, label="Title")


@login_required
@require_http_methods(["GET", "POST"])
def rename(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    form = TitleForm(request.POST or None, initial={"title": chat.title})
    if request.method == "POST" and form.is_valid():
        chats.rename(chat_id=chat.pk, title=form.cleaned_data["title"])
        return answer_changes(request, chat.pk)
    return render(request, "chat/rename.html", {"chat": chat, "form": form}, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """Asked back by GET, done by POST; a run that writes in it is stopped first."""
    chat = chat_or_404(request, chat_id)
    if request.method == "GET":
        return render(request, "chat/confirm_delete.html", {"chat": chat})
    if run := turns.request_stop(chat_id=chat.pk):
        runs.stop(run)
    chats.delete_chat(chat_id=chat.pk)
    return redirect("home")


@login_required
@require_POST
def choose_model(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    raw = request.POST.get("model", "")
    model = LanguageModel.objects.usable().filter(pk=raw).first() if raw.isascii() and raw.isdigit() else None
    if model is None:
        return answer_refusal(request, "no_such_model", chat=chat, status=422)
    try:
        chats.choose_model(chat_id=chat.pk, model=model)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat)
    return answer_changes(request, chat.pk)
