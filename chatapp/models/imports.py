"""A file that a person brought to be imported: how far it is here, how far it is read, what became of its chats."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class ImportQuerySet(models.QuerySet["Import"]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> ImportQuerySet:
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()

    def open(self) -> ImportQuerySet:
        return self.filter(status__in=Import.OPEN_STATUSES)

    def newest_first(self) -> ImportQuerySet:
        return self.order_by("-created_at", "pk")


class Import(models.Model):
    class Status(models.TextChoices):
        ARRIVING = "arriving"
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"
        FAILED = "failed"

    OPEN_STATUSES = (Status.ARRIVING, Status.WAITING, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ARRIVING)
    # Only shown; where the file lies is said by the id.
    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    arrived_bytes = models.PositiveBigIntegerField(default=0)
    # Bytes as they lie in the file, packed or not.
    read_bytes = models.PositiveBigIntegerField(default=0)

    imported = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    left_out = models.PositiveIntegerField(default=0)
    dropped_fields = models.PositiveBigIntegerField(default=0)
    # Why nothing (more) of it can be used: a code that templates turn into a sentence.
    problem = models.CharField(max_length=40, blank=True)

    # Where to go on: the file within a ZIP, and how many of its chats are dealt with. Written in one transaction with
    # the chat itself, so whoever takes over neither loses nor doubles one.
    file_number = models.PositiveIntegerField(default=0)
    chats_read = models.PositiveIntegerField(default=0)

    # Which process reads it; every write names the attempt, so one that was given up changes nothing.
    holder = models.CharField(max_length=64, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    # How often it was taken over since its last chat.
    takeovers = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    touched_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ImportQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="import_owner_created"),
            models.Index(
                fields=["status"],
                condition=models.Q(status__in=["arriving", "waiting", "running"]),
                name="import_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.status}"

    def get_absolute_url(self) -> str:
        return reverse("import_progress", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.status in self.OPEN_STATUSES


class ImportedFile(models.Model):
    """What became of one file's chats; only of files in which something was found."""

    MOST_PROBLEMS = 50

    of = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, blank=True)
    imported = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    left_out = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=40, blank=True)
    # The first of them: {"title", "code"}.
    problems = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["of", "number"], name="imported_file_once")]

    def __str__(self) -> str:
        return self.name
