"""What a person does to a chat as a whole: rename, delete (asked back), choose its model."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from chatapp import auditing, events, runs
from chatapp.fields import number_in
from chatapp.history import changing, chats, compactions, turns
from chatapp.history.errors import HistoryError
from chatapp.leases import PROCESS
from chatapp.models import Chat, Compaction, LanguageModel
from chatapp.views.answering import PersonRequest, answer_changes, answer_refusal, chat_or_404


class TitleForm(forms.Form):
    title = forms.CharField(max_length=200, label=_("Title"))


@login_required
@require_http_methods(["GET", "POST"])
def rename(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    form = TitleForm(request.POST or None, initial={"title": chat.title})
    if request.method == "POST" and form.is_valid():
        chats.rename(chat_id=chat.pk, title=form.cleaned_data["title"])
        events.wake_list(request.user.pk)
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
    auditing.record(auditing.Action.CHATS_DELETED, request=request, detail="1")
    events.wake(chat_id)  # other pages of it say that it is gone
    events.wake_list(request.user.pk)
    return redirect("home")


@login_required
@require_POST
def choose_model(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """At once where the chat has room in its window; else told first, and changed with the fold (rule B8).

    `how`: "fold", or "as_it_is" for a chat that never folds by itself.
    """
    chat = chat_or_404(request, chat_id)
    model_id, how = number_in(request.POST.get("model")), request.POST.get("how", "")
    model = LanguageModel.objects.usable().filter(pk=model_id).first() if model_id else None
    if model is None:
        return answer_refusal(request, "no_such_model", chat=chat, status=422)
    try:
        change = changing.fold_before(chat, model)
        if change is None or (how == "as_it_is" and change.is_optional):
            chats.choose_model(chat_id=chat.pk, model=model)
        elif how == "fold":
            runs.start_compaction(_begin_change(request, chat, model))
        else:
            compactions.refuse_while_busy(chat)
            return _tell(request, {"chat": chat, "change": change})
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    return answer_changes(request, chat.pk)


def _begin_change(request: PersonRequest, chat: Chat, model: LanguageModel) -> Compaction:
    return compactions.begin_compaction(
        chat_id=chat.pk,
        trigger=Compaction.Trigger.MODEL,
        by=PROCESS,
        user_id=request.user.pk,
        to_model=model,
    )


def _tell(request: PersonRequest, context: dict[str, Any]) -> HttpResponse:
    """What a change would take, before anything is done."""
    if not request.htmx:
        return render(request, "chat/change_model.html", context)
    response = render(request, "chat/_change_model.html", context)
    return reswap(retarget(response, "#changing"), "innerHTML")
