"""What a person attached: its text or its image in the row itself, under a made-up id, and what it is attached to."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class FileQuerySet(models.QuerySet["File"]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> FileQuerySet:
        """The only door to a file: a stranger's id answers like a random one."""
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()

    def without_content(self) -> FileQuerySet:
        """For lists: neither text nor image is read."""
        return self.defer("text", "data")

    def unattached(self) -> FileQuerySet:
        return self.filter(attachments=None)


class File(models.Model):
    """Never changed once it is made, so that a request that held it can be built again byte for byte (rule G3)."""

    class Kind(models.TextChoices):
        TEXT = "text"
        PDF = "pdf"
        IMAGE = "image"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="files")
    # As a person reads it; nothing is stored or served under it.
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=5, choices=Kind.choices)
    text = models.TextField(blank=True)
    data = models.BinaryField(default=b"", blank=True)
    media_type = models.CharField(max_length=20, blank=True)
    # Characters of a text, bytes of an image.
    size = models.PositiveIntegerField(default=0)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    # Only the beginning of a PDF was read: it has more pages or characters than we take.
    is_cut = models.BooleanField(default=False)
    # Or taken out again of what was to be sent: from then on it is kept for a while.
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FileQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="file_created")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("file", args=[self.pk])

    @property
    def is_image(self) -> bool:
        return self.kind == self.Kind.IMAGE


class Attachment(models.Model):
    """A file is attached to a message, to one that waits or to a draft; versions of a message hold the same file."""

    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="attachments")
    message = models.ForeignKey("Message", null=True, blank=True, on_delete=models.CASCADE, related_name="attachments")
    queued = models.ForeignKey(
        "QueuedMessage", null=True, blank=True, on_delete=models.CASCADE, related_name="attachments"
    )
    draft = models.ForeignKey("Draft", null=True, blank=True, on_delete=models.CASCADE, related_name="attachments")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="attachment_to_one_thing",
                condition=Q(message__isnull=False, queued__isnull=True, draft__isnull=True)
                | Q(message__isnull=True, queued__isnull=False, draft__isnull=True)
                | Q(message__isnull=True, queued__isnull=True, draft__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"attachment {self.pk}"
