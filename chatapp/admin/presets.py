"""Presets for everybody; people's own aren't here, as nothing of what they write is."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from chatapp.admin.desk import StaffOnly
from chatapp.models import Preset
from chatapp.presets import PresetForm


class PresetAdmin(StaffOnly):
    form = PresetForm
    list_display = ["name", "beginning"]
    search_fields = ["name"]
    ordering = ["name"]
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Preset]:
        return super().get_queryset(request).filter(owner=None)

    @admin.display(description="")
    def beginning(self, preset: Preset) -> str:
        return preset.text[:80]
