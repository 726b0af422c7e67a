"""What every page of the admin shares: who may use it, what it leaves in the audit log, numbers as people read them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from chatapp import auditing
from chatapp.auditing import Action

Changes = list[tuple[str, Any, Any]]


class StaffOnly(ModelAdmin):
    """One tier: whoever is on the staff runs this Foldline. Nobody hands out single permissions."""

    def _is_staff(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    # What is done here leaves a row in the audit log instead of one in Django's own.

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Changes:  # type: ignore[override]  # noqa: FBT001, FBT002 (Django's signature)
        return changes_of(form)

    def log_addition(self, request: HttpRequest, obj: Model, message: Changes) -> None:  # type: ignore[override]
        auditing.record(Action.ADDED, request=request, target=named(obj), detail=auditing.told(message))

    def log_change(self, request: HttpRequest, obj: Model, message: Changes) -> None:  # type: ignore[override]
        if message:
            auditing.record(Action.CHANGED, request=request, target=named(obj), detail=auditing.told(message))

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:  # type: ignore[override]
        for obj in queryset:
            auditing.record(Action.DELETED, request=request, target=named(obj))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        obj = self.get_object(request, object_id)
        query = urlencode({"q": named(obj)}) if obj else ""
        return redirect(f"{reverse('admin:chatapp_auditentry_changelist')}?{query}")

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


def named(obj: Model) -> str:
    """“endpoint: Ollama”, as the audit log names a row; in English, as it is stored."""
    with translation.override("en-gb"):
        return f"{type(obj).__name__.lower()}: {obj}"


def changes_of(form: Any) -> Changes:
    """Each changed field with what it was and is; of texts and whatever may be secret the name alone."""
    changes: Changes = []
    for name in form.changed_data:
        field = form.fields.get(name)
        told = field is not None and not isinstance(field.widget, forms.Textarea | forms.PasswordInput)
        values = (form.initial.get(name), form.cleaned_data.get(name)) if told else (None, None)
        changes.append((name, *((_shown(field, value) for value in values) if told else values)))
    return changes


def _shown(field: Any, value: Any) -> str:
    if isinstance(field, forms.ModelChoiceField) and field.queryset is not None and isinstance(value, int):
        value = field.queryset.filter(pk=value).first()
    # An address may carry a key behind its question mark.
    return "–" if value is None or value == "" else str(value).partition("?")[0][:200]


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
