"""Where a person is signed in: one row a browser, beside the session that Django keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class SignInQuerySet(models.QuerySet["SignIn"]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> SignInQuerySet:
        """The only door: a stranger's id answers like a random one."""
        return self.filter(user_id=user.pk) if user.is_authenticated else self.none()


class SignIn(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins")
    # Not a foreign key: sessions come and go without a word, and the row follows (sign_ins.forget_ended).
    session_key = models.CharField(max_length=40, unique=True, editable=False)
    address = models.GenericIPAddressField(null=True, blank=True)
    device = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # To five minutes.
    last_seen_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SignInQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.user_id} at {self.address}"
