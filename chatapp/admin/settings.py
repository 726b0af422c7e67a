"""The one row of settings, with what the threshold means for the models at hand."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from solo.admin import SingletonModelAdmin

from chatapp.admin.desk import StaffOnly, without_shortcuts
from chatapp.admin.models import folds_at, threshold_of
from chatapp.models import LanguageModel, SiteSettings

EXAMPLES = 5
# When a setting acts, where what it is doesn't say so already (rule K5).
ACTS = {
    "threshold_percent": _("It is looked at before every send and when a reply has ended."),
    "tail_percent": _("It acts when a chat is folded the next time."),
    "summary_percent": _("It acts when the next summary is written."),
    "exact_percent": _("It acts when the next summary is written."),
    "summariser": _("It acts when the next summary is written; which model answers in a chat is untouched."),
    "summary_prompt": _("It acts when the next summary is written."),
    "temporary_hours": _("It acts on chats that are begun from now on."),
}
NOBODY_CHOSEN = {"summariser": _("The chat’s own model"), "default_model": _("The first usable one")}


class ModelChoice(forms.ModelChoiceField):
    def label_from_instance(self, model: LanguageModel) -> str:
        return f"{model.name} · {model.endpoint.name}"


class SettingsAdmin(StaffOnly, SingletonModelAdmin):
    readonly_fields = ["effect"]
    fieldsets = [
        (
            _("Folding"),
            {
                "description": _(
                    "When a chat nears the end of its model’s window, its earlier turns are summarised and "
                    "folded behind a divider. Nothing is deleted. Changes act from the next message on."
                ),
                "fields": [
                    "threshold_percent",
                    "effect",
                    "tail_percent",
                    "summary_percent",
                    "exact_percent",
                    "summariser",
                    "summary_prompt",
                ],
            },
        ),
        (
            _("So that nobody waits"),
            {
                "description": _(
                    "Folding takes a call to the model. Both of these move the wait to moments when nobody writes."
                ),
                "fields": ["compacts_when_idle", "warms_prompt"],
            },
        ),
        (
            _("New chats"),
            {
                "description": _("What a new chat begins with. Chats that exist keep theirs."),
                "fields": ["default_model", "system_prompt", "temporary_hours"],
            },
        ),
        (
            _("Accounts"),
            {
                "description": _("Closed, you make the accounts yourself under Users."),
                "fields": ["sign_up_open", "second_factor_for_staff"],
            },
        ),
        (
            _("Audit log"),
            {
                "description": _("Who did what here, never what people write. Older rows are deleted by themselves."),
                "fields": ["audit_days"],
            },
        ),
        (
            _("Sharing"),
            {
                "description": _("A person can make a link to a frozen copy of a chat, and revoke it."),
                "fields": ["shares_with_anyone"],
            },
        ),
        (
            _("Limits for each person"),
            {
                "description": _(
                    "What one person may use; 0 is no limit. A day ends at midnight, and a reply that has begun is "
                    "never cut. Under Users a person can be given limits of their own."
                ),
                "fields": [
                    "sends_a_minute",
                    "runs_at_once",
                    "tokens_a_day",
                    "money_a_day",
                    "upload_megabytes_a_day",
                ],
            },
        ),
        (
            _("Waiting"),
            {
                "description": _("How long a reply may keep a person waiting before it counts as lost."),
                "fields": ["first_token_seconds", "stall_seconds"],
            },
        ),
    ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        heading = {"title": gettext("Settings"), "subtitle": None}
        return super().change_view(request, object_id, form_url, {**heading, **(extra_context or {})})

    @admin.display(description=_("What this means"))
    def effect(self, _: SiteSettings) -> str:
        settings = SiteSettings.get_solo()  # what is stored; after a form error the row at hand holds what was typed
        models = list(LanguageModel.objects.usable())
        models.sort(key=lambda model: model.pk != settings.default_model_id)
        rows = [
            {"model": model, "folds_at": folds_at(model, settings), "threshold": threshold_of(model, settings)}
            for model in models[:EXAMPLES]
        ]
        context = {"rows": rows, "more": len(models) - len(rows)}
        return render_to_string("admin/chatapp/sitesettings/effect.html", context)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Only usable models, and the one that is chosen now: it may have been switched off since."""
        chosen = getattr(SiteSettings.get_solo(), db_field.attname)
        usable = Q(pk__in=LanguageModel.objects.usable().values("pk"))
        kwargs["queryset"] = (
            LanguageModel.objects.filter(usable | Q(pk=chosen)).select_related("endpoint").order_by("pk")
        )
        kwargs["empty_label"] = NOBODY_CHOSEN[db_field.name]
        return super().formfield_for_foreignkey(db_field, request, form_class=ModelChoice, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = without_shortcuts(super().formfield_for_dbfield(db_field, request, **kwargs))
        if db_field.name in ACTS:
            field.help_text = f"{field.help_text} {ACTS[db_field.name]}"
        return field

    # There is one row, for good.
    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
