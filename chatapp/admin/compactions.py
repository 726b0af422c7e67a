"""The list of compactions: figures and reasons. Titles, texts and summaries are their owner's alone."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, F, Sum
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp.admin.desk import ReadOnly, count, in_percent
from chatapp.admin.figures import APPLIED, SAVED, STANDS, read_periods
from chatapp.models import Compaction


class ModelFilter(admin.AllValuesFieldListFilter):
    """One that was refused before any model was asked has none; its link needs a word all the same."""

    def choices(self, changelist: Any) -> Any:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or gettext("none was asked")}


class CompactionAdmin(ReadOnly):
    list_display = [
        "when", "person", "trigger", "outcome", "before_and_after", "saved", "values", "took", "calls", "price",
        "model_name", "how",
    ]  # fmt: skip
    list_filter = ["status", "trigger", "mode", "started_at", ("model_name", ModelFilter)]
    list_per_page = 50
    search_fields = ["chat__owner__username"]
    search_help_text = _("The name of the chat’s owner")
    ordering = ["-started_at", "-pk"]
    actions = None
    fields = [
        "started_at", "person", "chat_id", "trigger", "mode", "outcome", "endpoint_words", "message_count",
        "before_and_after", "saved", "took", "values", "added", "calls", "prompt_tokens", "completion_tokens",
        "cached_tokens", "price", "model_name",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).select_related("chat__owner")
        return rows.defer(
            "summary",
            "model_summary",
            "segments",
            "unfinished_summary",
            "instructions",
            "values_left_out",
            "chat__title",
            "chat__summary",
            "chat__system_prompt",
            "chat__parameters",
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            response.context_data["totals"] = totals_of(response.context_data["cl"].queryset)
            response.context_data["periods"] = read_periods()
        return response

    @admin.display(description=_("when"), ordering="started_at")
    def when(self, compaction: Compaction) -> str:
        return date_format(localtime(compaction.started_at), "SHORT_DATETIME_FORMAT")

    @admin.display(description=_("person"), ordering="chat__owner__username")
    def person(self, compaction: Compaction) -> str:
        return compaction.chat.owner.get_username()

    @admin.display(description=_("chat"))
    def chat_id(self, compaction: Compaction) -> str:
        return str(compaction.chat_id)

    @admin.display(description=_("outcome"), ordering="status")
    def outcome(self, compaction: Compaction) -> str:
        return render_to_string("admin/chatapp/compaction/outcome.html", {"compaction": compaction}).strip()

    @admin.display(description=_("the endpoint’s words"))
    def endpoint_words(self, compaction: Compaction) -> str:
        """Only when a call failed: what a judge says about a summary may quote it."""
        return (compaction.status == Compaction.Status.FAILED and compaction.reason_detail) or "–"

    @admin.display(description=_("before → after"))
    def before_and_after(self, compaction: Compaction) -> str:
        if not compaction.tokens_before:
            return "–"
        mark = "" if compaction.before_is_measured else "≈ "
        after = count(compaction.tokens_after) if compaction.tokens_after else "–"
        return f"{mark}{count(compaction.tokens_before)} → {after}"

    @admin.display(description=_("saved"))
    def saved(self, compaction: Compaction) -> str:
        return in_percent(compaction.saved_percent) if compaction.status in SHORTENED else "–"

    @admin.display(description=_("mode"), ordering="mode")
    def how(self, compaction: Compaction) -> str:
        """In one word; the page of the row says it in full."""
        return str(WAYS[compaction.mode]) if compaction.status in SHORTENED else "–"

    @admin.display(description=_("values kept"))
    def values(self, compaction: Compaction) -> str:
        """Kept of found, those included that Foldline added (rule H3)."""
        if not compaction.values_found or compaction.status not in SHORTENED:
            return "–"
        held = {"part": count(compaction.values_kept + compaction.values_added), "all": count(compaction.values_found)}
        return gettext("%(part)s of %(all)s") % held

    @admin.display(description=_("added by Foldline"))
    def added(self, compaction: Compaction) -> str:
        return count(compaction.values_added)

    @admin.display(description=_("cost"), ordering="cost")
    def price(self, compaction: Compaction) -> str:
        return "–" if compaction.cost is None else floatformat(compaction.cost, 4)

    @admin.display(description=_("seconds"))
    def took(self, compaction: Compaction) -> str:
        return "–" if compaction.seconds is None else floatformat(max(0, compaction.seconds), 1)


WAYS: dict[str, Any] = {
    Compaction.Mode.TRANSCRIPT: _("transcript"),
    Compaction.Mode.CONTINUATION: _("continuation"),
    Compaction.Mode.FRESH: _("fresh"),
}
SHORTENED = (Compaction.Status.APPLIED, Compaction.Status.UNDONE)


def totals_of(compactions: Any) -> dict[str, int]:
    """Counts and tokens of these rows but the copies: saved by those that stand, spent on the calls of all."""
    totals = (
        compactions.filter(is_copy=False)
        .order_by()
        .aggregate(
            all=Count("pk"),
            applied=Count("pk", filter=APPLIED),
            saved=Sum(SAVED, filter=STANDS),
            spent=Sum(F("prompt_tokens") + F("completion_tokens")),
            cached=Sum("cached_tokens"),
        )
    )
    return {name: number or 0 for name, number in totals.items()}
