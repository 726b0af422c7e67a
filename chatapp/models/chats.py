"""One conversation of one person, and the record that stands for its archived messages."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp.models.compactions import Compaction
from chatapp.models.messages import TEXTS
from chatapp.models.queue import QueuedMessage
from chatapp.models.runs import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from chatapp.models.ordering import Tag

LISTED = ("id", "title", "touched_at", "owner_id", "pinned_at", "folder_id", "unread_since", "expires_at")


class ChatQuerySet(models.QuerySet["Chat"]):
    def for_user(self, user: AbstractBaseUser | AnonymousUser) -> ChatQuerySet:
        """The only door to a chat, in views, sockets and commands: a stranger's id answers like a random one."""
        return self.filter(owner_id=user.pk) if user.is_authenticated else self.none()

    def with_boundary(self) -> ChatQuerySet:
        """Each with the message that its summary reaches to: where that is, not what it says."""
        return self.select_related("compacted_through").defer(*(f"compacted_through__{name}" for name in TEXTS))

    def newest_first(self) -> ChatQuerySet:
        return self.order_by("-touched_at", "-pk")

    def for_list(self) -> ChatQuerySet:
        """What a list of chats shows; never a message's text or a summary."""
        writing = Run.objects.live().filter(chat_id=OuterRef("pk"))
        return self.only(*LISTED).annotate(is_writing=Exists(writing))

    def as_it_stands(self) -> ChatQuerySet:
        """For a chat's page, in one query: its boundary, whether it is written in, and what else has to be read."""
        of_chat = {"chat_id": OuterRef("pk")}
        compactions = Compaction.objects.filter(**of_chat).order_by("-pk")
        annotated = self.annotate(
            is_writing=Exists(Run.objects.live().filter(**of_chat)),
            has_queue=Exists(QueuedMessage.objects.filter(**of_chat)),
            last_compaction=Subquery(compactions.values("status")[:1]),
        )
        return annotated.with_boundary()

    def archived(self) -> ChatQuerySet:
        """Put away by the person: out of the list (not to be taken for archived messages, which a summary covers)."""
        return self.filter(archived_at__isnull=False)

    def unarchived(self) -> ChatQuerySet:
        return self.filter(archived_at__isnull=True)

    def kept(self) -> ChatQuerySet:
        """Those that stay; a temporary one is in no search and in no file of all chats."""
        return self.filter(expires_at__isnull=True)


class Chat(models.Model):
    # Whether its owner has any limit; known of a chat that history has locked.
    is_limited: bool
    # Known of a chat that was read as it stands; the status of its last compaction.
    is_writing: bool
    has_queue: bool
    last_compaction: str | None

    class Policy(models.TextChoices):
        """What happens as the window fills (rule J4); two mechanisms never act on one chat."""

        COMPACT = "compact", _("fold earlier turns")
        WINDOW = "window", _("send only the newest turns that fit")
        EVERYTHING = "everything", _("never by itself")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chats")
    title = models.CharField(max_length=200, blank=True)
    titled_by_hand = models.BooleanField(default=False)
    model = models.ForeignKey("LanguageModel", null=True, blank=True, on_delete=models.SET_NULL, related_name="chats")
    system_prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    policy = models.CharField(max_length=12, choices=Policy.choices, default=Policy.COMPACT)
    # What a refusal or three failures tell the next automatic compaction (rules D3, D4): compaction.memory.Memory.
    compaction_memory = models.JSONField(default=dict, blank=True)

    # The three belong together (check constraint below; the summary alone may be empty, rule J5); history writes them
    # in one transaction with the Compaction row that explains them.
    summary = models.TextField(blank=True)
    # DO_NOTHING, not SET_NULL: clearing one of the three alone would break the constraint, so history clears all
    # three first. The foreign key itself is deferred, so deleting a whole chat still works (docs/decisions.md).
    compacted_through = models.ForeignKey(
        "Message", null=True, blank=True, on_delete=models.DO_NOTHING, related_name="+"
    )
    compacted_at = models.DateTimeField(null=True, blank=True)

    # How its owner keeps it. `unread_since`: a reply ended, and no page has shown it yet. `expires_at`: begun as a
    # temporary chat, which is deleted then.
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    folder = models.ForeignKey("Folder", null=True, blank=True, on_delete=models.SET_NULL, related_name="chats")
    tags: models.ManyToManyField[Tag, Any] = models.ManyToManyField("Tag", blank=True, related_name="chats")
    unread_since = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    # Grows by one in every transaction that changes what a page of this chat shows; a page that has seen up to N
    # is repaired by everything after N. The other three are the newest ones at which earlier positions changed hands,
    # the boundary moved, and what a list of chats shows changed.
    revision = models.PositiveBigIntegerField(default=0)
    path_revision = models.PositiveBigIntegerField(default=0)
    fold_revision = models.PositiveBigIntegerField(default=0)
    listed_revision = models.PositiveBigIntegerField(default=0)

    # What the chat was in the file that it was imported from, as hashes: the same file twice is one chat. The key names
    # the conversation, the state its messages; where only the state differs it has grown there since.
    import_key = models.CharField(max_length=64, blank=True)
    import_state = models.CharField(max_length=64, blank=True)
    imported_with = models.ForeignKey("Import", null=True, blank=True, on_delete=models.SET_NULL, related_name="chats")

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    touched_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ChatQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-touched_at"], name="chat_owner_touched"),
            # The list by day, whatever else a person has put away.
            models.Index(
                fields=["owner", "-touched_at", "-id"],
                condition=Q(archived_at__isnull=True, pinned_at__isnull=True, folder__isnull=True),
                name="chat_by_day",
            ),
            models.Index(fields=["owner", "-pinned_at"], condition=Q(pinned_at__isnull=False), name="chat_pinned"),
            models.Index(
                fields=["owner", "-archived_at"], condition=Q(archived_at__isnull=False), name="chat_archived"
            ),
            models.Index(fields=["expires_at"], condition=Q(expires_at__isnull=False), name="chat_expires"),
        ]
        constraints = [
            models.CheckConstraint(
                name="chat_record_whole_or_empty",
                condition=Q(summary="", compacted_through__isnull=True, compacted_at__isnull=True)
                | Q(compacted_through__isnull=False, compacted_at__isnull=False),
                violation_error_message=_("A summary needs its boundary, and a boundary its time."),
            ),
            models.UniqueConstraint(
                fields=["owner", "import_key"], condition=~Q(import_key=""), name="chat_imported_once"
            ),
        ]

    def __str__(self) -> str:
        return self.title or gettext("New chat")

    def get_absolute_url(self) -> str:
        return reverse("chat", args=[self.pk])

    @property
    def is_compacted(self) -> bool:
        return self.compacted_through_id is not None

    def record(self) -> dict[str, Any]:
        """Summary, boundary and time as they are now, to put back on undo."""
        return {
            "summary": self.summary,
            "compacted_through_id": self.compacted_through_id,
            "compacted_at": self.compacted_at,
        }
