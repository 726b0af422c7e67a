"""The one-time page on which the first account is made."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chatapp import accounts, auditing


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: HttpRequest, token: str) -> HttpResponse:
    """A wrong or used token answers like a random address."""
    if not accounts.opens_setup(token):
        raise Http404
    form = accounts.NewAccountForm(request.POST or None)
    if not form.is_valid():
        return render(request, "setup/first_account.html", {"form": form}, status=422 if form.is_bound else 200)
    try:
        user = accounts.redeem(
            token,
            username=form.cleaned_data["username"],
            email=form.cleaned_data["email"],
            password=form.cleaned_data["password1"],
        )
    except accounts.SetUpClosed as closed:
        raise Http404 from closed
    auditing.record(auditing.Action.ACCOUNT_MADE, request=request, actor=user, target=f"user: {user.get_username()}")
    login(request, user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return redirect("home")
