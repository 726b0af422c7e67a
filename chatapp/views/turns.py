"""The commands of a turn: start, send, stop, regenerate, retry, continue, show another version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from chatapp import runs
from chatapp.fields import LONGEST_TEXT, TypedText
from chatapp.files.unusable import Unusable
from chatapp.history import chats, continuing, loading, metering, paths, queueing, temporary, turns
from chatapp.history.errors import HistoryError, LimitReached, NotPossible
from chatapp.leases import PROCESS
from chatapp.models import Chat, File, LanguageModel, SiteSettings
from chatapp.views.answering import PersonRequest, answer_changes, answer_command, answer_refusal, chat_or_404
from chatapp.views.attaching import chosen_files
from chatapp.views.drafts import kept_over_sign_in
from chatapp.views.settings import refuse_start, settings_of_new_chat

INVISIBLE = " \t\n\r\v\f\u00a0\u200b\u2060\ufeff\ufffd"
SENT = json.dumps({"foldline:sent": {}})


class MessageForm(forms.Form):
    """What a person sends. Any other field of the post is ignored."""

    text = TypedText(required=False, strip=False, max_length=LONGEST_TEXT)
    idempotency_key = forms.CharField(required=False, max_length=64)
    model = forms.ModelChoiceField(queryset=LanguageModel.objects.usable(), required=False)

    def __init__(self, data: Any = None, *, files: Sequence[File] = ()) -> None:
        """`files`: what is attached; then no words are needed."""
        super().__init__(data)
        self.attached = files

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if text.strip(INVISIBLE):
            return text
        if not self.attached:
            raise forms.ValidationError("empty")
        return ""

    def refusal(self) -> str:
        """The code of the sentence to show."""
        if "text" in self.errors:
            return "too_much_text" if len(self.data.get("text", "")) > LONGEST_TEXT else "empty"
        return "malformed"


@kept_over_sign_in
@login_required
@require_POST
def start(request: PersonRequest) -> HttpResponse:
    """A new chat with its first message."""
    site = SiteSettings.get_solo()
    model = _chosen_model(request) or loading.default_model(site)
    chosen = chosen_files(request, model=model)
    form = MessageForm(request.POST, files=chosen.files)
    settings = settings_of_new_chat(request.POST, model=model)
    typed: dict[str, Any] = {"draft": request.POST.get("text", ""), "draft_files": chosen.files}
    if chosen.problem:
        return refuse_start(request, chosen.problem.code, settings, **_facts_of(chosen.problem), **typed)
    if not form.is_valid():
        return refuse_start(request, form.refusal(), settings, **typed)
    if not settings.is_valid():
        return refuse_start(request, "bad_settings", settings, **typed)
    system_prompt = settings.cleaned_data["system_prompt"] or settings.default_prompt
    if not metering.fits(system_prompt, settings.limits, form.cleaned_data["text"], chosen.files):
        return refuse_start(request, "larger_than_window", settings, **typed)
    try:
        turn = turns.start_chat(
            owner_id=request.user.pk,
            text=form.cleaned_data["text"],
            file_ids=chosen.ids,
            title=chosen.files[0].name if chosen.files else "",
            idempotency_key=form.cleaned_data["idempotency_key"],
            model=model,
            system_prompt=system_prompt,
            parameters=chats.merged_parameters({}, settings.changed_parameters()),
            policy=settings.cleaned_data["policy"] or Chat.Policy.COMPACT,
            expires_at=temporary.end_of_new(site) if "temporary" in request.POST else None,
            by=PROCESS,
        )
    except LimitReached as refused:
        return refuse_start(request, refused.code, settings, **refused.facts, **typed)
    runs.start(turn, read=runs.Read(site, model))
    if not request.htmx:
        return redirect(turn.chat)
    return HttpResponse(headers={"HX-Redirect": turn.chat.get_absolute_url(), "HX-Trigger": SENT})


@kept_over_sign_in
@login_required
@require_POST
def send(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """An ordinary turn; while a reply is being written the message waits for its end."""
    chat = chat_or_404(request, chat_id)
    site = SiteSettings.get_solo()
    model = loading.model_of(chat, site)
    chosen = chosen_files(request, model=model)
    form = MessageForm(request.POST, files=chosen.files)
    typed: dict[str, Any] = {"draft": request.POST.get("text", ""), "draft_files": chosen.files, "status": 422}
    if chosen.problem:
        return answer_refusal(request, chosen.problem.code, chat=chat, **_facts_of(chosen.problem), **typed)
    if not form.is_valid():
        return answer_refusal(request, form.refusal(), chat=chat, **typed)
    if not metering.fits(chat.system_prompt, loading.limits_of(model, site), form.cleaned_data["text"], chosen.files):
        return answer_refusal(request, "larger_than_window", chat=chat, **typed)
    try:
        turn = queueing.send(
            chat_id=chat.pk,
            text=form.cleaned_data["text"],
            file_ids=chosen.ids,
            idempotency_key=form.cleaned_data["idempotency_key"],
            by=PROCESS,
        )
    except (LimitReached, NotPossible) as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts, **typed)
    if turn:
        runs.start(turn, read=runs.Read(site, model) if turn.chat.model_id == chat.model_id else None)
    return answer_changes(request, chat.pk, trigger=SENT)


@login_required
@require_POST
def stop(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    if run := turns.request_stop(chat_id=chat.pk):
        runs.stop(run)
    return answer_changes(request, chat.pk)


@login_required
@require_POST
def write_again(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """Regenerate and Retry: another reply beside the one that is there."""
    return answer_command(request, chat_id, turns.begin_again, then=begin_anew, reply_id=message_id, by=PROCESS)


@login_required
@require_POST
def go_on(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    """Continue: a reply that broke off is written on, in its place."""
    return answer_command(
        request, chat_id, continuing.begin_continuation, then=begin_anew, reply_id=message_id, by=PROCESS
    )


@login_required
@require_POST
def show_version(request: PersonRequest, chat_id: UUID, message_id: int) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    try:
        paths.show_version(chat_id=chat.pk, message_id=message_id)
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    answer = answer_changes(request, chat.pk)
    if not request.htmx:
        position = chat.messages.get(pk=message_id).position
        return redirect(f"{chat.get_absolute_url()}?m={position}#m-{position}")
    return answer


def _facts_of(problem: Unusable) -> dict[str, Any]:
    return {"file_name": problem.name or "…", "reached": problem.reached}


def _chosen_model(request: PersonRequest) -> LanguageModel | None:
    field = MessageForm.base_fields["model"]
    try:
        model: LanguageModel | None = field.clean(request.POST.get("model", ""))
    except forms.ValidationError:  # the form says so
        return None
    return model


def begin_anew(turn: turns.Turn) -> None:
    """Whoever asks once more wants to know whether the endpoint is there again."""
    runs.start(turn, insists=True)
