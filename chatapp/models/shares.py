"""A frozen copy of a chat's path that others may read: what was said until then, and nothing that is said later."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


def new_token() -> str:
    """192 bits, which nobody guesses."""
    return secrets.token_urlsafe(24)


class ShareQuerySet(models.QuerySet["Share"]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> ShareQuerySet:
        """Those that a person made."""
        return self.filter(chat__owner_id=user.pk) if user.is_authenticated else self.none()

    def readable_by(self, user: AbstractBaseUser | AnonymousUser, *, anyone: bool) -> ShareQuerySet:
        """The only door for readers. `anyone`: whether the administrator lets chats be shown without signing in."""
        if user.is_authenticated:
            return self.filter(~models.Q(audience=Share.Audience.PRIVATE) | models.Q(chat__owner_id=user.pk))
        return self.filter(audience=Share.Audience.ANYONE) if anyone else self.none()

    def newest_first(self) -> ShareQuerySet:
        return self.order_by("-taken_at", "-pk")


class Share(models.Model):
    class Audience(models.TextChoices):
        PRIVATE = "private", _("only me")
        SIGNED_IN = "signed_in", _("whoever is signed in here")
        ANYONE = "anyone", _("anyone who has the link")

    chat = models.ForeignKey("Chat", on_delete=models.CASCADE, related_name="shares")
    token = models.CharField(max_length=43, unique=True, default=new_token, editable=False)
    audience = models.CharField(max_length=12, choices=Audience.choices, default=Audience.SIGNED_IN)
    shows_name = models.BooleanField(default=False)
    shows_reasoning = models.BooleanField(default=False)

    # As they were when it was taken. Of a message: role, status, content, reasoning, finish_reason, model_name and
    # created_at, as in a file of chats (archives.layout); no id, no usage.
    title = models.CharField(max_length=200, blank=True)
    messages = models.JSONField(default=list)
    message_count = models.PositiveIntegerField(default=0)
    taken_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ShareQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["chat", "-taken_at"], name="share_chat_taken")]

    def __str__(self) -> str:
        return f"{self.title}, {self.audience}"

    def get_absolute_url(self) -> str:
        return reverse("shared", args=[self.token])
