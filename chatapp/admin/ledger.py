"""The ledger: every call to a model by kind, with its tokens, what came from a cache, and its price (rule I5)."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import floatformat
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp.admin.desk import ReadOnly, count, in_percent
from chatapp.models import UsageRecord
from chatapp.models.usage import percent


class LedgerAdmin(ReadOnly):
    list_display = ["when", "kind", "model_name", "prompt", "cached", "completion", "how", "price"]
    list_filter = ["kind", "created_at", ("model_name", admin.AllValuesFieldListFilter)]
    list_per_page = 50
    ordering = ["-created_at", "-pk"]
    actions = None
    fields = ["created_at", "kind", "model_name", "prompt", "cached", "completion", "reasoning_tokens", "how", "price"]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            response.context_data["by_kind"] = by_kind(response.context_data["cl"].queryset)
        return response

    @admin.display(description=_("when"), ordering="created_at")
    def when(self, record: UsageRecord) -> str:
        return date_format(localtime(record.created_at), "SHORT_DATETIME_FORMAT")

    @admin.display(description=_("prompt tokens"), ordering="prompt_tokens")
    def prompt(self, record: UsageRecord) -> str:
        return count(record.prompt_tokens)

    @admin.display(description=_("from a cache"), ordering="cached_tokens")
    def cached(self, record: UsageRecord) -> str:
        return in_percent(percent(record.cached_tokens, record.prompt_tokens))

    @admin.display(description=_("completion tokens"), ordering="completion_tokens")
    def completion(self, record: UsageRecord) -> str:
        return count(record.completion_tokens)

    @admin.display(description=_("counted by"), ordering="measured")
    def how(self, record: UsageRecord) -> str:
        return gettext("the endpoint") if record.measured else gettext("estimate")

    @admin.display(description=_("cost"), ordering="cost")
    def price(self, record: UsageRecord) -> str:
        return "–" if record.cost is None else floatformat(record.cost, 4)


def by_kind(records: Any) -> list[dict[str, Any]]:
    """Calls, tokens and cost of these rows, one line a kind, in one query."""
    lines = (
        records.order_by()
        .values("kind")
        .annotate(
            calls=Count("pk"),
            estimated=Count("pk", filter=Q(measured=False)),
            prompt=Sum("prompt_tokens"),
            completion=Sum("completion_tokens"),
            cached=Sum("cached_tokens"),
            price=Sum("cost"),
        )
        .order_by("kind")
    )
    labels = dict(UsageRecord.Kind.choices)
    return [
        {**line, "label": labels[line["kind"]], "percent": percent(line["cached"], line["prompt"])} for line in lines
    ]
