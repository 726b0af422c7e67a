"""What a person keeps their chats in order by: folders, one a chat, and tags, as many as they like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

Row = TypeVar("Row", bound=models.Model)


class OwnedQuerySet(models.QuerySet[Row]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The only door: a stranger's id answers like a random one."""
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()

    def named(self, name: str) -> Self:
        """Capitals don't make another one, as in the constraint."""
        return self.filter(name__iexact=name)

    def by_name(self) -> Self:
        return self.order_by(Lower("name"), "pk")


class FolderQuerySet(OwnedQuerySet["Folder"]):
    """As a person's own things are, in all."""


class Folder(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folders")
    name = models.CharField(max_length=80)
    # Whether the list shows what is in it; kept, so that it is the same on every device and without a script.
    is_open = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FolderQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("owner", Lower("name"), name="folder_named_once")]

    def __str__(self) -> str:
        return self.name


class TagQuerySet(OwnedQuerySet["Tag"]):
    def in_use(self) -> Self:
        """A tag that no chat has any more is suggested to nobody."""
        return self.filter(chats__isnull=False).distinct()


class Tag(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=40)

    objects = TagQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("owner", Lower("name"), name="tag_named_once"),
            models.CheckConstraint(name="tag_has_a_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name
