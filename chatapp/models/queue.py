"""What a person sent while a reply was being written: it waits here, off every path, until its turn comes."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from chatapp.models.files import Attachment


class QueuedMessageQuerySet(models.QuerySet["QueuedMessage"]):
    def in_order(self) -> QueuedMessageQuerySet:
        """As they will be sent: rows are made behind the chat's lock, so their ids are the order."""
        return self.order_by("-at_once", "pk")

    def with_files(self) -> QueuedMessageQuerySet:
        """The names of what is attached to each, in one query for all."""
        return self.prefetch_related(
            models.Prefetch(
                "attachments",
                Attachment.objects.select_related("file").defer("file__text", "file__data").order_by("pk"),
            )
        )


class QueuedMessage(models.Model):
    """Not a Message: nothing of it is in a request, a summary or the chat's size before it is sent (rules C2, I3)."""

    chat = models.ForeignKey("Chat", on_delete=models.CASCADE, related_name="queued")
    text = models.TextField(blank=True)
    # The message that it becomes has the same: sent twice it is one, before and after.
    idempotency_key = models.CharField(max_length=64, blank=True)
    # "Send now": it goes first, however the reply ends that was stopped for it. At most one a chat.
    at_once = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = QueuedMessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chat", "idempotency_key"], condition=~Q(idempotency_key=""), name="message_queued_once"
            ),
        ]

    def __str__(self) -> str:
        return f"queued {self.pk}"
