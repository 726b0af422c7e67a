"""One stored text with a role. Nothing is overwritten: an edit or a regeneration adds a sibling and moves the flag."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

# What a row says at length; read where it is shown or sent, and nowhere else.
TEXTS = ("content", "reasoning", "tool_calls", "failure_detail", "request_extras", "left_out")


class MessageQuerySet(models.QuerySet["Message"]):
    def without_texts(self) -> MessageQuerySet:
        return self.defer(*TEXTS)

    def on_path(self) -> MessageQuerySet:
        """The active path in its order; `position` is the order, never time (rule C4)."""
        return self.filter(active=True).order_by("position")

    def after_boundary(self, boundary: Message | None) -> MessageQuerySet:
        return self.filter(position__gt=boundary.position) if boundary else self.all()

    def up_to_boundary(self, boundary: Message | None) -> MessageQuerySet:
        return self.filter(position__lte=boundary.position) if boundary else self.none()

    def deleted(self) -> MessageQuerySet:
        return self.filter(deleted_at__isnull=False)


class Message(models.Model):
    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        TOOL = "tool"

    class Status(models.TextChoices):
        QUEUED = "queued"
        STREAMING = "streaming"
        COMPLETE = "complete"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"
        FAILED = "failed"

    LIVE_STATUSES = (Status.QUEUED, Status.STREAMING)

    chat = models.ForeignKey("Chat", on_delete=models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    position = models.PositiveIntegerField()
    active = models.BooleanField(default=True)
    role = models.CharField(max_length=10, choices=Role.choices)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.COMPLETE)
    content = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    # From the first word of it to the last; null where nobody measured it.
    reasoning_milliseconds = models.PositiveIntegerField(null=True, blank=True)
    # How many files are attached: whoever reads messages looks for them only where there are any.
    file_count = models.PositiveSmallIntegerField(default=0)
    tool_calls = models.JSONField(default=list, blank=True)
    tool_call_id = models.CharField(max_length=100, blank=True)
    # Stays verbatim in every request, also once it is archived (rule C6).
    pinned = models.BooleanField(default=False)
    # Deleted by the person: no request holds it any more, the page shows its place with Undo, and after a while its
    # text is erased for good (rule J2).
    deleted_at = models.DateTimeField(null=True, blank=True)

    # A client-made key: the same send twice is one message.
    idempotency_key = models.CharField(max_length=64, blank=True)
    # Why a reply failed or was interrupted: a code that templates turn into a sentence, and the endpoint's own words.
    failure = models.CharField(max_length=40, blank=True)
    failure_detail = models.CharField(max_length=500, blank=True)
    # From when on a busy endpoint said that it can be asked again; null where it didn't.
    retry_at = models.DateTimeField(null=True, blank=True)
    finish_reason = models.CharField(max_length=20, blank=True)

    # Usage of the call that wrote this reply, in tokens; null where the endpoint told none.
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(null=True, blank=True)
    # Our estimate of that call's request, to compare with prompt_tokens (rules A3, A4).
    estimated_prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    window_tokens = models.PositiveIntegerField(default=0)
    # The boundary that call's request was built with (a message id, null for none): usage of a request that still
    # held messages archived since says nothing of the chat's size now (rule A2).
    request_through_id = models.PositiveBigIntegerField(null=True, blank=True)
    # What that call's request held was changed or deleted since, so its usage says nothing of the chat's size now.
    usage_outdated = models.BooleanField(default=False)
    model_name = models.CharField(max_length=200, blank=True)
    # Parameters that were sent with it, so that the request can be rebuilt byte for byte (rule G3).
    request_extras = models.JSONField(default=dict, blank=True)

    # Ids of messages that were left out of its request, or shortened in it, by force (rule B7).
    left_out = models.JSONField(default=list, blank=True)

    # The chat's revision at which this message appeared on the path, and at which it last changed.
    shown_revision = models.PositiveBigIntegerField(default=0)
    revision = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chat", "position"], condition=Q(active=True), name="message_one_active_path"
            ),
            models.UniqueConstraint(
                # The key first: the same start twice is looked for without a chat (history.turns.start_chat).
                fields=["idempotency_key", "chat"],
                condition=~Q(idempotency_key=""),
                name="message_sent_once",
            ),
        ]
        indexes = [
            models.Index(fields=["chat", "revision"], name="message_chat_revision"),
            models.Index(fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="message_deleted"),
            # Every request asks for the archived ones that are pinned, in whatever number of archived ones.
            models.Index(fields=["chat", "position"], condition=Q(pinned=True), name="message_pinned"),
            # Every page of a folded chat asks for deleted ones on its path, every page for the newest usage: where
            # there is none of either, all the chat's messages would be looked at.
            models.Index(
                fields=["chat", "position"], condition=Q(deleted_at__isnull=False), name="message_deleted_in_chat"
            ),
            models.Index(
                fields=["chat", "position"], condition=Q(active=True, prompt_tokens__gt=0), name="message_measured"
            ),
            # The versions of a chat's first message have no parent by which they are found.
            models.Index(fields=["chat"], condition=Q(position=0), name="message_first"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.position}"

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def is_live(self) -> bool:
        return self.status in self.LIVE_STATUSES
