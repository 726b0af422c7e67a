"""Registers Foldline's app and its admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class FoldlineConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Foldline"


class FoldlineAdminConfig(AdminConfig):
    default_site = "chatapp.admin.site.FoldlineAdminSite"
