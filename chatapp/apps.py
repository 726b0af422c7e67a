"""Registers Foldline's app, its system checks and its admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.core.checks import register

from chatapp import checks


class FoldlineConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Foldline"

    def ready(self) -> None:
        register(checks.check_environment)


class FoldlineAdminConfig(AdminConfig):
    default_site = "chatapp.adminsite.FoldlineAdminSite"
