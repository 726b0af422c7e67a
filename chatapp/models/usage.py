"""The recorded counts of one call to a model, by kind; a ledger, never part of a chat's size."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class UsageRecord(models.Model):
    class Kind(models.TextChoices):
        REPLY = "reply", pgettext_lazy("kind of call", "Reply")
        COMPACTION = "compaction", pgettext_lazy("kind of call", "Compaction")
        TITLE = "title", pgettext_lazy("kind of call", "Title")
        WARMING = "warming", pgettext_lazy("kind of call", "Warming")

    chat = models.ForeignKey("Chat", null=True, blank=True, on_delete=models.SET_NULL, related_name="usage_records")
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    model_name = models.CharField(_("model name"), max_length=200)
    prompt_tokens = models.PositiveIntegerField(_("prompt tokens"), default=0)
    completion_tokens = models.PositiveIntegerField(_("completion tokens"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), default=0)
    measured = models.BooleanField(default=False)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("usage record")
        verbose_name_plural = _("usage records")
        indexes = [
            models.Index(fields=["kind", "created_at"], name="usage_kind_created"),
            models.Index(fields=["-created_at", "-id"], name="usage_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.prompt_tokens} + {self.completion_tokens} tokens"


def percent(part: float, whole: float) -> int:
    """The share of `part` in `whole`, rounded; 0 of nothing."""
    return round(100 * part / whole) if whole else 0
