"""Sharing: a person's own copies, with their links, and what a reader of such a link sees."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatapp import presenting
from chatapp.fields import number_in
from chatapp.history import sharing
from chatapp.history.errors import NotPossible
from chatapp.models import Share, SiteSettings
from chatapp.views.answering import PersonRequest, chat_or_404

SHARES_SHOWN = 200


class AudienceForm(forms.Form):
    audience = forms.ChoiceField(label=_("Who may read it"), choices=Share.Audience.choices)

    def __init__(self, *args: Any, may_be_anyone: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_be_anyone:
            own = [choice for choice in Share.Audience.choices if choice[0] != Share.Audience.ANYONE]
            self.fields["audience"].choices = own  # type: ignore[attr-defined]


class ShareForm(AudienceForm):
    shows_name = forms.BooleanField(label=_("Say that it is from me"), required=False)
    shows_reasoning = forms.BooleanField(label=_("Show the model’s reasoning, too"), required=False)


@login_required
@require_http_methods(["GET", "POST"])
def share(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    chat = chat_or_404(request, chat_id)
    may_be_anyone = SiteSettings.get_solo().shares_with_anyone
    initial = {"audience": Share.Audience.SIGNED_IN}
    form = ShareForm(request.POST or None, initial=initial, may_be_anyone=may_be_anyone)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            sharing.share(chat_id=chat.pk, **form.cleaned_data)
            return redirect("shares")
        except NotPossible as refused:
            problem = refused.code
    context = {"chat": chat, "form": form, "problem": problem, "may_be_anyone": may_be_anyone}
    return render(request, "share/new.html", context, status=422 if form.errors or problem else 200)


@login_required
@require_GET
def shares(request: PersonRequest) -> HttpResponse:
    """All of a person's copies; never their text."""
    own = Share.objects.for_user(request.user).defer("messages").newest_first()[:SHARES_SHOWN]
    may_be_anyone = SiteSettings.get_solo().shares_with_anyone
    shown = [
        (each, _link(request, each), AudienceForm(initial={"audience": each.audience}, may_be_anyone=may_be_anyone))
        for each in own
    ]
    return render(request, "share/list.html", {"shares": shown, "may_be_anyone": may_be_anyone})


@login_required
@require_POST
def update(request: PersonRequest, share_id: int) -> HttpResponse:
    own = get_object_or_404(Share.objects.for_user(request.user).defer("messages"), pk=share_id)
    try:
        sharing.update_share(chat_id=own.chat_id, share_id=own.pk)
        messages.success(request, gettext("The copy is now as the chat is."))
    except NotPossible:
        messages.error(
            request, gettext("There is nothing in the chat that could be shared, so the copy stays as it was.")
        )
    return redirect("shares")


@login_required
@require_POST
def change_audience(request: PersonRequest, share_id: int) -> HttpResponse:
    own = get_object_or_404(Share.objects.for_user(request.user).defer("messages"), pk=share_id)
    form = AudienceForm(request.POST, may_be_anyone=SiteSettings.get_solo().shares_with_anyone)
    if form.is_valid():
        sharing.change_audience(chat_id=own.chat_id, share_id=own.pk, audience=form.cleaned_data["audience"])
        messages.success(request, gettext("Who may read it is changed; the link is the same."))
    return redirect("shares")


@login_required
@require_POST
def revoke(request: PersonRequest, share_id: int) -> HttpResponse:
    own = get_object_or_404(Share.objects.for_user(request.user).defer("messages"), pk=share_id)
    sharing.revoke(chat_id=own.chat_id, share_id=own.pk)
    messages.success(request, gettext("Revoked: the link no longer opens."))
    return redirect("shares")


@require_GET
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """What a reader sees: no id of the chat, no name unless it was chosen, and nothing said later."""
    copy = _readable(request, token)
    start = number_in(request.GET.get("from"), digits=9) or 0
    context = {"share": copy, "page": presenting.read_frozen(copy, start=start)}
    if copy.shows_name:
        context["name"] = copy.chat.owner.get_full_name() or copy.chat.owner.get_username()
    response = render(request, "share/shared.html", context)
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    add_never_cache_headers(response)  # revoked is revoked
    return response


@login_required
@require_POST
def continue_in_own(request: PersonRequest, token: str) -> HttpResponse:
    return redirect(sharing.continue_in_own(share=_readable(request, token), owner_id=request.user.pk))


def _readable(request: HttpRequest, token: str) -> Share:
    """Whatever the reason, there is one answer for a link that doesn't lead to anything for this reader."""
    anyone = SiteSettings.get_solo().shares_with_anyone
    readable = Share.objects.readable_by(request.user, anyone=anyone).select_related("chat__owner")
    copy = readable.filter(token=token).first()
    if copy is None or not copy.chat.owner.is_active:
        raise Http404
    return copy


def _link(request: HttpRequest, share: Share) -> str:
    address = share.get_absolute_url()
    return f"{settings.PUBLIC_URL}{address}" if settings.PUBLIC_URL else request.build_absolute_uri(address)
