"""Texts under a name, for the box or a system prompt: a person's own, and those for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class PresetQuerySet(models.QuerySet["Preset"]):
    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> PresetQuerySet:
        """What the person may change: a stranger's id answers like a random one."""
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()

    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> PresetQuerySet:
        """What the person may use, in the order of names."""
        return self.filter(Q(owner_id=user.pk) | Q(owner=None)).in_order() if user.is_authenticated else self.none()

    def in_order(self) -> PresetQuerySet:
        return self.order_by("name", "pk")


class Preset(models.Model):
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="presets",
    )
    name = models.CharField(_("name"), max_length=60, help_text=_("By which it is found after a “/” in the box."))
    text = models.TextField(_("text"), max_length=100_000)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = PresetQuerySet.as_manager()

    class Meta:
        verbose_name = _("preset")
        verbose_name_plural = _("presets")
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="preset_name_once_a_person",
            ),
            models.UniqueConstraint(fields=["name"], condition=Q(owner__isnull=True), name="preset_shared_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_shared(self) -> bool:
        return self.owner_id is None
