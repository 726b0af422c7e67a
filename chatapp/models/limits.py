"""What a person may use where it isn't what everybody may, and what they have used on a day."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Allowance(models.Model):
    """Limits of one person instead of everybody's: None is as everybody's, 0 no limit. The fields are SiteSettings'."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="allowance"
    )
    sends_a_minute = models.PositiveIntegerField(_("messages a minute"), null=True, blank=True)
    runs_at_once = models.PositiveIntegerField(_("replies at once"), null=True, blank=True)
    tokens_a_day = models.PositiveBigIntegerField(_("tokens a day"), null=True, blank=True)
    money_a_day = models.DecimalField(
        _("money a day"), null=True, blank=True, max_digits=12, decimal_places=4, validators=[MinValueValidator(0)]
    )
    upload_megabytes_a_day = models.PositiveIntegerField(_("uploads a day"), null=True, blank=True)

    class Meta:
        verbose_name = verbose_name_plural = _("limits")

    def __str__(self) -> str:
        return gettext("Limits")


class DailyUse(models.Model):
    """A person's sums of one day (of TIME_ZONE): what limits are held against, so that no message need be counted."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="daily_use")
    day = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=16, decimal_places=6, default=0)
    upload_bytes = models.PositiveBigIntegerField(default=0)
    # Sends are counted by the minute of the clock, and only where a limit asks for it.
    minute = models.DateTimeField(null=True)
    sends_in_minute = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "day"], name="daily_use_once_a_day")]

    def __str__(self) -> str:
        return f"{self.day}: {self.tokens} tokens"
