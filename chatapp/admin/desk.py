"""What every page of the admin shares: who may use it, and numbers as people read them."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext


class StaffOnly(ModelAdmin):
    """One tier: whoever is on the staff runs this Foldline. Nobody hands out single permissions."""

    def _is_staff(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_staff(request)

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return self._is_staff(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_staff(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_staff(request)


class ReadOnly(StaffOnly):
    """For staff to look at; nothing is added, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def count(number: int) -> str:
    """8192 as “8,192”, or as the language in force writes it."""
    return intcomma(number)


def tokens(number: int) -> str:
    return ngettext("%(number)s token", "%(number)s tokens", number) % {"number": count(number)}


def in_percent(number: int) -> str:
    return gettext("%(percent)s %%") % {"percent": number}


def without_shortcuts(field: Any) -> Any:
    """The form field without Django's pencil, plus, cross and eye beside a choice: each row has a desk of its own."""
    widget = getattr(field, "widget", None)
    if isinstance(widget, RelatedFieldWidgetWrapper):
        widget.can_add_related = widget.can_change_related = widget.can_delete_related = widget.can_view_related = False
    return field
