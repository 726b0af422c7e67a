"""The admin site and its doors.

Outside the package `admin`: Django makes the site before it loads what is registered, and what registers meanwhile is
lost.
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME, logout
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from chatapp import second_factors


class FoldlineAdminSite(AdminSite):
    site_header = "Foldline"
    site_title = "Foldline"
    index_title = _("Settings")
    enable_nav_sidebar = False  # a row of links does (templates/admin/base_site.html)

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Foldline's own pages only; what other packages bring along (groups, e-mail addresses) isn't offered."""
        if admin_class and admin_class.__module__.startswith("chatapp."):
            super().register(model_or_iterable, admin_class, **options)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        """One list in the order of registration, wherever the models live."""
        rows = [row for app in self._build_app_dict(request).values() for row in app["models"]]
        order = list(self._registry)
        rows.sort(key=lambda row: order.index(row["model"]))
        index = reverse("admin:index", current_app=self.name)
        return [
            {"name": "Foldline", "app_label": "chatapp", "app_url": index, "has_module_perms": True, "models": rows}
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        """Every page of the admin asks this, several times; the row of settings is read once for it."""
        if not hasattr(request, "may_open"):
            request.may_open = super().has_permission(request) and second_factors.opens_settings(request)  # type: ignore[attr-defined]
        return bool(request.may_open)  # type: ignore[attr-defined]

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """One door for everybody: the sign-in page, which counts failures and sends back only within this host."""
        index = reverse("admin:index", current_app=self.name)
        if self.has_permission(request):
            return redirect(index)
        if super().has_permission(request):
            return redirect(second_factors.way_to(request, request.GET.get(REDIRECT_FIELD_NAME, index)))
        if request.user.is_authenticated:
            raise PermissionDenied(_("Only staff reaches the settings."))
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME, index), reverse("account_login"))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        return _sign_out(request)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        return redirect("account_change_password")


@require_POST
def _sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("account_login")
