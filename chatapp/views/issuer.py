"""To the issuer and back again."""

from __future__ import annotations

from allauth.account.adapter import get_adapter as account_adapter
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.openid_connect.views import callback
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from chatapp import issuers

# What a broken answer of the issuer ends in, beside what allauth catches itself.
BROKEN = (RequestException, KeyError, TypeError, ValueError)


@never_cache
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """A page that leads on: as an answer to a form, a redirect to another host is stopped by the policy for forms."""
    if not issuers.name():
        raise Http404
    wanted = request.POST.get("next")
    next_url = wanted if account_adapter().is_safe_url(wanted) else None
    try:
        provider = get_adapter().get_provider(request, issuers.PROVIDER)
        way = provider.redirect(request, AuthProcess.LOGIN, next_url=next_url)["Location"]
    except BROKEN:
        return issuers.refusal(request, "failed")
    return render(request, "account/to_issuer.html", {"way": way, "issuer": issuers.name()})


@never_cache
@require_GET
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    if not issuers.name():
        raise Http404
    if not statekit.get_states(request):  # nobody was on the way there: a row each would fill the audit log
        return issuers.refusal(request, "failed", is_recorded=False)
    try:
        return callback(request, provider_id)
    except BROKEN:
        return issuers.refusal(request, "failed")
