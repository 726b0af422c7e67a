"""The audit log: read, filtered, searched and taken away as CSV; nothing in it is written or deleted by hand."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from chatapp import auditing
from chatapp.admin.desk import ReadOnly
from chatapp.database import in_database
from chatapp.models import AuditEntry

COLUMNS = ("created_at", "action", "actor", "target", "detail", "address", "device")
ROWS_AT_ONCE = 500
# A table calculation would take a cell that begins so for a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class AuditAdmin(ReadOnly):
    list_display = ["when", "actor", "action", "target", "detail", "address", "device"]
    list_filter = ["action", "created_at"]
    search_fields = ["actor", "target", "detail", "address"]
    search_help_text = _("Who, to what, in which words, or from which address.")
    fields = ["created_at", "actor", "action", "target", "detail", "address", "device"]
    ordering = ["-created_at", "-pk"]
    list_per_page = 100
    list_display_links = None
    show_full_result_count = False
    actions = None

    @admin.display(description=_("when"), ordering="created_at")
    def when(self, entry: AuditEntry) -> str:
        return date_format(localtime(entry.created_at), "SHORT_DATETIME_FORMAT")

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(require_GET(self.export))
        return [path("export/", export, name="chatapp_auditentry_export"), *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """What the list shows with the same filters, the newest first, all of it; nonsense leads to the list."""
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            return redirect("admin:chatapp_auditentry_changelist")
        auditing.record(auditing.Action.EXPORTED, request=request, target="audit log")
        response = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
        name = f"foldline-audit-{timezone.localdate().isoformat()}.csv"
        return _attached(response, name)


def _attached(response: StreamingHttpResponse, name: str) -> StreamingHttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


class _Echo:
    """What csv writes to, to have each line back."""

    def write(self, line: str) -> str:
        return line


async def _lines(rows: Any) -> AsyncIterator[str]:
    """Some rows at a time; a synchronous iterator would be read whole before the first byte under ASGI."""
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    older = rows.order_by("-pk").values_list("pk", *COLUMNS)
    while page := await in_database(list, older[:ROWS_AT_ONCE]):
        for _pk, created_at, *told in page:
            yield writer.writerow([created_at.isoformat(), *map(_cell, told)])
        older = older.filter(pk__lt=page[-1][0])


def _cell(value: str | None) -> str:
    return f"'{value}" if value and value.startswith(FORMULAS) else value or ""
