"""A person's second factors, with what an administrator is asked for."""

from __future__ import annotations

from typing import Any

from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator

from chatapp import second_factors


class SecondFactors(IndexView):
    template_name = "mfa/index.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        rows = Authenticator.objects.filter(user=self.request.user)
        has_one = second_factors.has_one(self.request.user)
        return {
            "has_app": rows.filter(type=Authenticator.Type.TOTP).exists(),
            "passkeys": [row.wrap() for row in rows.filter(type=Authenticator.Type.WEBAUTHN).order_by("pk")],
            "has_one": has_one,
            "is_missing": not has_one and second_factors.is_asked_of(self.request.user),
            **kwargs,
        }
