"""Who may make an account, and how the first one is made."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from chatapp.models import SiteSettings


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return SiteSettings.get_solo().sign_up_open
