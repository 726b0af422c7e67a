"""What a person has typed and not sent: one a chat, and one for the chat that isn't begun yet."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Draft(models.Model):
    """Empty once its message is stored: `saved_at` then tells other devices that what they hold is older."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts")
    chat = models.OneToOneField("Chat", null=True, blank=True, on_delete=models.CASCADE, related_name="draft")
    text = models.TextField(blank=True)
    # When it was typed, where that was earlier.
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner"], condition=Q(chat__isnull=True), name="draft_one_of_a_new_chat")
        ]

    def __str__(self) -> str:
        return f"draft {self.pk}"
