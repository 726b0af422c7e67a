"""Models: the context window in force and where it is from, the threshold of each, and who may be chosen."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import DecimalField
from django.http import HttpRequest

from chatapp.admin.desk import StaffOnly, count, without_shortcuts
from chatapp.models import LanguageModel, SiteSettings
from compaction.budget import trigger_tokens

SOURCES = {"admin": "entered here", "endpoint": "told by the endpoint", "learned": "learned from a refused request"}


def threshold_of(model: LanguageModel, settings: SiteSettings) -> int:
    """The percentage that applies to this model: its own, or the one of the settings."""
    return settings.threshold_percent if model.threshold_percent is None else model.threshold_percent


def folds_at(model: LanguageModel, settings: SiteSettings) -> int:
    """Tokens at which this model's chats are folded by themselves; 0 is never (rules A5, A7)."""
    return trigger_tokens(model.window_tokens, threshold_of(model, settings))


# Why a model isn't asked for summaries as one more turn any more: the codes of compaction.setbacks.
SUSPENDED = {
    "refused_by_template": "its chat template refused one",
    "tool_call": "it called a tool instead of writing one",
    "empty": "it wrote nothing twice",
    "only_reasoning": "it thought twice, but wrote nothing",
    "apology": "it declined twice to write one",
    "copy": "it copied the chat twice",
    "error_text": "it wrote an error twice",
    "too_short": "it wrote next to nothing twice",
}


class LanguageModelForm(forms.ModelForm):
    resume_continuation = forms.BooleanField(
        label="Ask as one more turn again",
        required=False,
        help_text="Foldline then asks this model for its next summary as one more turn of the cached request.",
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
            "Context window",
            {
                "description": "What you enter comes first, then what the endpoint tells, then what a refused request "
                "taught. 0 is unknown: Foldline never guesses, so those chats aren’t folded by themselves; “Compact "
                "now” works all the same. An Ollama endpoint tells no window: enter what it runs the model with (its "
                "num_ctx). A change acts from the next message on.",
                "fields": ["window_set", "window_in_force", "window_from", "window_reported", "window_learned"],
            },
        ),
        ("Folding", {"fields": ["threshold_percent", "trigger", "estimates", "summaries"]}),
        (
            "Peculiarities and prices",
            {
                "description": "Prices only turn recorded tokens into money; leave them empty for a model of your own.",
                "fields": ["no_system_role", "prompt_price", "completion_price"],
            },
        ),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: LanguageModel | None = None) -> list[str]:
        # The name is the model's id there: another one is another model.
        return [*self.readonly_fields, "endpoint", "name"] if obj else self.readonly_fields

    def get_fieldsets(self, request: HttpRequest, obj: LanguageModel | None = None) -> Any:
        if obj and obj.continuation_suspended:
            folding = ["threshold_percent", "trigger", "estimates", "summaries", "resume_continuation"]
            return [(name, {"fields": folding} if name == "Folding" else facts) for name, facts in self.fieldsets]
        if obj:
            return self.fieldsets
        return [(None, {"fields": ["endpoint", "name", "enabled", "window_set", "threshold_percent"]})]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        at_least = {"min_value": 0} if isinstance(db_field, DecimalField) else {}
        return without_shortcuts(super().formfield_for_dbfield(db_field, request, **kwargs, **at_least))

    @admin.display(description="window in force")
    def window_in_force(self, model: LanguageModel) -> str:
        return f"{count(model.window_tokens)} tokens" if model.window_tokens else "unknown"

    @admin.display(description="known from")
    def window_from(self, model: LanguageModel) -> str:
        return SOURCES.get(model.window_source, "nowhere yet: not folded by itself")

    @admin.display(description="estimates")
    def estimates(self, model: LanguageModel) -> str:
        return f"{model.estimate_ratio:.2f} recorded tokens to one estimated"

    @admin.display(description="summaries")
    def summaries(self, model: LanguageModel) -> str:
        """How they are asked for (rules E1, E3)."""
        if not model.continuation_suspended:
            return "as one more turn of the cached request where the endpoint caches, else from a transcript"
        why = SUSPENDED.get(model.continuation_suspended, model.continuation_suspended)
        return f"from a transcript only: asked for as one more turn, {why}"

    @admin.display(description="threshold")
    def threshold(self, model: LanguageModel) -> str:
        own = "" if model.threshold_percent is None else " (its own)"
        return f"{threshold_of(model, SiteSettings.get_solo())} %{own}"

    @admin.display(description="folds at")
    def trigger(self, model: LanguageModel) -> str:
        tokens = folds_at(model, SiteSettings.get_solo())
        return f"{count(tokens)} tokens" if tokens else "never by itself"
