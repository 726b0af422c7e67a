"""The commands of a compaction: Compact now, Cancel, Undo; and the meter while one types."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from chatapp import presenting, runs
from chatapp.history import compactions, loading, metering
from chatapp.history.errors import HistoryError
from chatapp.leases import PROCESS
from chatapp.models import Compaction, SiteSettings
from chatapp.views.answering import PersonRequest, answer_changes, answer_command, answer_refusal, chat_or_404
from chatapp.views.attaching import pending_in


class WishesForm(forms.Form):
    """What a person may wish of a compaction: what to keep, and the last message to fold (its id)."""

    instructions = forms.CharField(required=False, max_length=2_000)
    up_to = forms.IntegerField(required=False, min_value=1)


@login_required
@require_POST
def compact(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """The button: at any threshold, with an unknown window too; with instructions and up to a message (rule B6)."""
    chat = chat_or_404(request, chat_id)
    form = WishesForm(request.POST)
    if not form.is_valid():
        return answer_refusal(request, "malformed", chat=chat, status=422)
    try:
        compaction = compactions.begin_compaction(
            chat_id=chat.pk,
            trigger=Compaction.Trigger.BUTTON,
            by=PROCESS,
            user_id=request.user.pk,
            instructions=form.cleaned_data["instructions"],
            up_to=form.cleaned_data["up_to"],
        )
    except HistoryError as refused:
        return answer_refusal(request, refused.code, chat=chat, **refused.facts)
    runs.start_compaction(compaction)
    return answer_changes(request, chat.pk)


@login_required
@require_POST
def cancel(request: PersonRequest, chat_id: UUID, compaction_id: int) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    if compactions.request_cancel(chat_id=chat.pk, compaction_id=compaction_id):
        runs.cancel_compaction(compaction_id)
    return answer_changes(request, chat.pk)


@login_required
@require_POST
def undo(request: PersonRequest, chat_id: UUID, compaction_id: int) -> HttpResponse:
    return answer_command(request, chat_id, compactions.undo_compaction, compaction_id=compaction_id)


@login_required
@require_POST
def meter(request: PersonRequest, chat_id: UUID | None = None) -> HttpResponse:
    """The meter with the text being typed; the same function as everywhere (rule A7)."""
    site = SiteSettings.get_solo()
    chat = None if chat_id is None else chat_or_404(request, chat_id)
    model = loading.model_of(chat, site) if chat else loading.default_model(site)
    typed = pending_in(request, model=model)
    if chat is None:
        prompt = request.POST.get("system_prompt") or site.system_prompt
        measured = metering.measure_new_chat(prompt, loading.limits_of(model, site), **typed)
    else:
        measured = metering.load_meter(chat, site, model, **typed)
    return render(request, "chat/_meter.html", {"chat": chat, "meter": presenting.view_meter(measured)})
