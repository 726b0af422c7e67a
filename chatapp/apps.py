"""Registers Foldline's app, its system checks and its admin site."""

from typing import Any

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.core.checks import register
from django.db import connections
from django.db.models.signals import post_migrate

from chatapp import checks


class FoldlineConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Foldline"

    def ready(self) -> None:
        from chatapp import listening  # noqa: PLC0415 (it needs the models)

        register(checks.check_environment)
        listening.begin()
        post_migrate.connect(keep_index, sender=self)


def keep_index(*, using: str, **_: Any) -> None:
    """What finds words is whole again, whatever the migrations did to the tables that it is made of."""
    from chatapp.searching import sqlite  # noqa: PLC0415 (models aren't there yet when this module is loaded)

    if connections[using].vendor == "sqlite":
        sqlite.keep_index(connections[using])


class FoldlineAdminConfig(AdminConfig):
    default_site = "chatapp.adminsite.FoldlineAdminSite"
