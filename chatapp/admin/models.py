"""Models: the context window in force and where it is from, the threshold of each, and who may be chosen."""

from __future__ import annotations

from functools import partial, update_wrapper
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import DecimalField
from django.http import HttpRequest
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp.admin.desk import StaffOnly, in_percent, tokens, without_shortcuts
from chatapp.models import LanguageModel, SiteSettings
from compaction.budget import trigger_tokens

SOURCES = {
    "admin": _("entered here"),
    "endpoint": _("told by the endpoint"),
    "learned": _("learned from a refused request"),
}


def threshold_of(model: LanguageModel, settings: SiteSettings) -> int:
    """The percentage that applies to this model: its own, or the one of the settings."""
    return settings.threshold_percent if model.threshold_percent is None else model.threshold_percent


def folds_at(model: LanguageModel, settings: SiteSettings) -> int:
    """Tokens at which this model's chats are folded by themselves; 0 is never (rules A5, A7)."""
    return trigger_tokens(model.window_tokens, threshold_of(model, settings))


# Why a model isn't asked for summaries as one more turn any more: the codes of compaction.setbacks.
SUSPENDED = {
    "refused_by_template": _("from a transcript only: asked for as one more turn, its chat template refused one"),
    "tool_call": _("from a transcript only: asked for as one more turn, it called a tool instead of writing one"),
    "empty": _("from a transcript only: asked for as one more turn, it wrote nothing twice"),
    "only_reasoning": _("from a transcript only: asked for as one more turn, it thought twice, but wrote nothing"),
    "apology": _("from a transcript only: asked for as one more turn, it declined twice to write one"),
    "copy": _("from a transcript only: asked for as one more turn, it copied the chat twice"),
    "error_text": _("from a transcript only: asked for as one more turn, it wrote an error twice"),
    "too_short": _("from a transcript only: asked for as one more turn, it wrote next to nothing twice"),
}


class LanguageModelForm(forms.ModelForm):
    resume_continuation = forms.BooleanField(
        label=_("Ask as one more turn again"),
        required=False,
        help_text=_("Foldline then asks this model for its next summary as one more turn of the cached request."),
    )

    def save(self, commit: bool = True) -> LanguageModel:  # noqa: FBT001, FBT002 (Django's signature)
        if self.cleaned_data.get("resume_continuation"):
            self.instance.continuation_suspended, self.instance.continuation_empties = "", 0
        return super().save(commit=commit)


class LanguageModelAdmin(StaffOnly):
    form = LanguageModelForm
    list_display = ["name", "endpoint", "window_in_force", "window_from", "threshold", "trigger", "enabled"]
    list_editable = ["enabled"]
    list_filter = ["endpoint", "enabled"]
    list_select_related = ["endpoint"]
    search_fields = ["name"]
    ordering = ["endpoint__name", "name"]
    actions = None
    readonly_fields = [
        "window_in_force", "window_from", "window_reported", "window_learned", "trigger", "estimates", "summaries",
    ]  # fmt: skip
    fieldsets = [
        (None, {"fields": ["endpoint", "name", "enabled"]}),
        (
            _("Context window"),
            {
                "description": _(
                    "What you enter comes first, then what the endpoint tells, then what a refused request taught. 0 "
                    "is unknown: Foldline never guesses, so those chats aren’t folded by themselves; “Compact now” "
                    "works all the same. An Ollama endpoint tells no window: enter what it runs the model with (its "
                    "num_ctx). A change acts from the next message on."
                ),
                "fields": ["window_set", "window_in_force", "window_from", "window_reported", "window_learned"],
            },
        ),
        (_("Folding"), {"fields": ["threshold_percent", "trigger", "estimates", "summaries"]}),
        (
            _("Peculiarities and prices"),
            {
                "description": _(
                    "Prices only turn recorded tokens into money; leave them empty for a model of your own."
                ),
                "fields": ["sees_images", "no_system_role", "prompt_price", "completion_price"],
            },
        ),
    ]

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> type[forms.ModelForm[LanguageModel]]:
        """A tick in a list has no label of its own; screen readers would say "tick box" in every row."""
        tick = forms.CheckboxInput(attrs={"aria-label": gettext("Enabled")})
        return super().get_changelist_form(request, **kwargs, widgets={"enabled": tick})

    def get_readonly_fields(self, request: HttpRequest, obj: LanguageModel | None = None) -> list[str]:
        # The name is the model's id there: another one is another model.
        return [*self.readonly_fields, "endpoint", "name"] if obj else self.readonly_fields

    def get_fieldsets(self, request: HttpRequest, obj: LanguageModel | None = None) -> Any:
        if obj and obj.continuation_suspended:
            folding = ["threshold_percent", "trigger", "estimates", "summaries", "resume_continuation"]
            return [
                (name, {"fields": folding} if "summaries" in facts["fields"] else facts)
                for name, facts in self.fieldsets
            ]
        if obj:
            return self.fieldsets
        return [(None, {"fields": ["endpoint", "name", "enabled", "window_set", "threshold_percent", "sees_images"]})]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        at_least = {"min_value": 0} if isinstance(db_field, DecimalField) else {}
        return without_shortcuts(super().formfield_for_dbfield(db_field, request, **kwargs, **at_least))

    @admin.display(description=_("window in force"))
    def window_in_force(self, model: LanguageModel) -> str:
        return tokens(model.window_tokens) if model.window_tokens else gettext("unknown")

    @admin.display(description=_("known from"))
    def window_from(self, model: LanguageModel) -> str:
        return str(SOURCES.get(model.window_source, _("nowhere yet: not folded by itself")))

    @admin.display(description=_("estimates"))
    def estimates(self, model: LanguageModel) -> str:
        ratio = floatformat(model.estimate_ratio, 2)
        return gettext("%(ratio)s recorded tokens to one estimated") % {"ratio": ratio}

    @admin.display(description=_("summaries"))
    def summaries(self, model: LanguageModel) -> str:
        """How they are asked for (rules E1, E3)."""
        if not model.continuation_suspended:
            return gettext("as one more turn of the cached request where the endpoint caches, else from a transcript")
        return str(SUSPENDED.get(model.continuation_suspended, _("from a transcript only")))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """The settings are read once for all rows."""
        site = SiteSettings.get_solo()
        known = {
            each.__name__: update_wrapper(partial(each, site=site), each) for each in (self.threshold, self.trigger)
        }
        return [known.get(name, name) for name in map(str, self.list_display)]

    @admin.display(description=_("threshold"))
    def threshold(self, model: LanguageModel, site: SiteSettings | None = None) -> str:
        percent = threshold_of(model, site or SiteSettings.get_solo())
        if model.threshold_percent is None:
            return in_percent(percent)
        return gettext("%(percent)s %% (its own)") % {"percent": percent}

    @admin.display(description=_("folds at"))
    def trigger(self, model: LanguageModel, site: SiteSettings | None = None) -> str:
        line = folds_at(model, site or SiteSettings.get_solo())
        return tokens(line) if line else gettext("never by itself")
