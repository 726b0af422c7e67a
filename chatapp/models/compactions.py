"""What replaced earlier turns by a summary: when, why, how, from how much to how much, and how it ended."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

# What a summariser wrote; read where it is shown or sent, and nowhere else.
TEXTS = ("summary", "segments", "model_summary", "unfinished_summary", "values_left_out")


class CompactionQuerySet(models.QuerySet["Compaction"]):
    def without_texts(self) -> CompactionQuerySet:
        return self.defer(*TEXTS)

    def live(self) -> CompactionQuerySet:
        return self.filter(status=Compaction.Status.RUNNING)

    def applied(self) -> CompactionQuerySet:
        return self.filter(status=Compaction.Status.APPLIED)


class Compaction(models.Model):
    class Trigger(models.TextChoices):
        SEND = "send", _("before a send")
        OVERFLOW = "overflow", _("the endpoint said too long")
        BUTTON = "button", _("Compact now")
        IDLE = "idle", _("after a reply")
        FULL = "full", _("the window was full while writing")
        MODEL = "model", _("before a change of model")
        FRESH = "fresh", _("Start fresh here")
        REBUILD = "rebuild", _("a folded message was deleted")

    class Mode(models.TextChoices):
        TRANSCRIPT = "transcript", _("from a quoted transcript")
        CONTINUATION = "continuation", _("as one more turn of the cached request")
        FRESH = "fresh", _("without a summary")

    class Status(models.TextChoices):
        RUNNING = "running", _("Running")
        APPLIED = "applied", _("Applied")
        REFUSED = "refused", _("Refused")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")
        UNDONE = "undone", _("Undone")

    chat = models.ForeignKey("Chat", on_delete=models.CASCADE, related_name="compactions")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    trigger = models.CharField(_("trigger"), max_length=12, choices=Trigger.choices)
    mode = models.CharField(_("mode"), max_length=12, choices=Mode.choices, default=Mode.TRANSCRIPT)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.RUNNING)
    # A code that templates turn into a sentence (rules D, F), and the endpoint's or the judge's own words.
    reason = models.CharField(max_length=40, blank=True)
    reason_detail = models.CharField(max_length=500, blank=True)

    through = models.ForeignKey("Message", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    from_position = models.PositiveIntegerField(null=True, blank=True)
    through_position = models.PositiveIntegerField(null=True, blank=True)
    message_count = models.PositiveIntegerField(_("message count"), default=0)
    # What this compaction wrote, with the exact values put under it; `segments` is the whole record once it is applied:
    # earlier segments byte for byte, then its own (rule E6).
    summary = models.TextField(blank=True)
    segments = models.JSONField(default=list, blank=True)
    # What the model wrote, where a person has edited the segment by hand (rule I4).
    model_summary = models.TextField(blank=True)
    instructions = models.TextField(blank=True)
    up_to = models.PositiveBigIntegerField(null=True, blank=True)
    # The model that the chat changes to in the transaction that applies this (rule B8).
    to_model = models.ForeignKey("LanguageModel", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    # Exact values in what was archived: found, kept by the summary, added under it, left out beyond the cap (rules H).
    values_found = models.PositiveIntegerField(default=0)
    values_kept = models.PositiveIntegerField(default=0)
    values_added = models.PositiveIntegerField(default=0)
    values_left_out = models.JSONField(default=list, blank=True)

    tokens_before = models.PositiveIntegerField(default=0)
    tokens_after = models.PositiveIntegerField(default=0)
    before_is_measured = models.BooleanField(default=False)
    # Measured less estimated size at the time, so that the meter falls at once and truly (rule K4).
    measured_offset = models.IntegerField(default=0)
    measured_model = models.CharField(max_length=200, blank=True)
    model_name = models.CharField(_("model name"), max_length=200, blank=True)
    # That of the model at the time; 0 where it wasn't known.
    window_tokens = models.PositiveIntegerField(default=0)
    calls = models.PositiveSmallIntegerField(_("calls"), default=0)
    chunks_done = models.PositiveSmallIntegerField(default=0)
    chunks_total = models.PositiveSmallIntegerField(default=0)
    # The summary as far as it was written, and a hash of all that it was written from, for the next try (rule E9).
    unfinished_summary = models.TextField(blank=True)
    unfinished_key = models.CharField(max_length=64, blank=True)
    prompt_tokens = models.PositiveIntegerField(_("prompt tokens"), default=0)
    completion_tokens = models.PositiveIntegerField(_("completion tokens"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    # It came with a copy of its chat: what it took and saved is the original's (rule J3).
    is_copy = models.BooleanField(default=False)
    # The rebuild that wrote its record anew, and so undid it (rule J2).
    rebuilt_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="rebuilt")

    # Which process works on it, and until when it is believed; a dead one is taken over by the reaper.
    owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    started_at = models.DateTimeField(_("started at"), default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = CompactionQuerySet.as_manager()

    class Meta:
        verbose_name = _("compaction")
        verbose_name_plural = _("compactions")
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["chat"], condition=Q(status="running"), name="compaction_one_live_a_chat")
        ]
        indexes = [
            models.Index(fields=["chat", "status"], name="compaction_chat_status"),
            models.Index(fields=["chat", "-id"], name="compaction_newest"),
            # The one in force is the first of these whose boundary is on the path (history.boundary).
            models.Index(
                fields=["chat", "-through_position", "-id"], condition=Q(status="applied"), name="compaction_in_force"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_trigger_display()}, {self.get_status_display().lower()}"

    @property
    def saved_percent(self) -> int:
        """Share of the tokens before that is saved, 0 to 100."""
        if not self.tokens_before:
            return 0
        return max(0, round(100 * (self.tokens_before - self.tokens_after) / self.tokens_before))

    @property
    def seconds(self) -> float | None:
        return (self.ended_at - self.started_at).total_seconds() if self.ended_at else None
