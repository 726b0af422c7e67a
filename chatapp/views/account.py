"""A person's account: where they are signed in, and its end."""

from __future__ import annotations

from typing import Any

from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatapp import auditing, leaving, presenting, sign_ins
from chatapp.history.leaving import LastAdministrator, is_last_administrator
from chatapp.models import Chat
from chatapp.views.answering import PersonRequest


class EndForm(forms.Form):
    name = forms.CharField(label=_("Your user name, to be sure"), max_length=150)

    def __init__(self, *args: Any, user_name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user_name = user_name

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self.user_name:
            raise forms.ValidationError(_("That isn’t the user name of this account."))
        return self.user_name


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
@reauthentication_required
def delete_account(request: PersonRequest) -> HttpResponse:
    """Asked back, after the password or a second factor was given again."""
    user = request.user
    form = EndForm(request.POST or None, user_name=user.get_username())
    is_last = is_last_administrator(user)
    chat_count = Chat.objects.for_user(user).count()
    if form.is_valid() and not is_last:
        try:
            with transaction.atomic():
                target, detail = f"user: {user.get_username()}", f"chats: {chat_count}"
                auditing.record(auditing.Action.ACCOUNT_DELETED, request=request, target=target, detail=detail)
                leaving.delete_account(user)
        except LastAdministrator:
            is_last = True
        else:
            request.session.flush()
            messages.info(request, gettext("Your account and all that was in it is deleted."))
            return redirect("account_login")
    context = {"form": form, "is_last": is_last, "chat_count": chat_count}
    return render(request, "account/delete.html", context, status=422 if form.is_bound else 200)


@login_required
@never_cache
@require_GET
def devices(request: PersonRequest) -> HttpResponse:
    listed = presenting.read_devices(sign_ins.of_person(request.user), request.session.session_key)
    return render(request, "account/devices.html", {"devices": listed})


@login_required
@require_POST
def end_device(request: PersonRequest, sign_in_id: int) -> HttpResponse:
    return _ended(request, sign_ins.end(user=request.user, sign_in_id=sign_in_id))


@login_required
@require_POST
def end_other_devices(request: PersonRequest) -> HttpResponse:
    return _ended(request, sign_ins.end_all(request.user, but=request.session.session_key))


def _ended(request: PersonRequest, count: int) -> HttpResponse:
    """0 for a stranger's, a random id, or one that has ended by itself meanwhile: all are told alike."""
    if count:
        auditing.record(auditing.Action.SESSIONS_ENDED, request=request, detail=str(count))
    told = ngettext("%(count)s browser was signed out.", "%(count)s browsers were signed out.", count)
    messages.info(request, told % {"count": count} if count else gettext("It was signed out already."))
    return redirect("devices")
