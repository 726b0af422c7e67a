"""One generation in progress: who owns it, how often it was taken over, and until when it is believed alive."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class RunQuerySet(models.QuerySet["Run"]):
    def live(self) -> RunQuerySet:
        return self.filter(status=Run.Status.LIVE)


class Run(models.Model):
    class Status(models.TextChoices):
        LIVE = "live"
        COMPLETE = "complete"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"
        FAILED = "failed"

    chat = models.ForeignKey("Chat", on_delete=models.CASCADE, related_name="runs")
    reply = models.ForeignKey("Message", on_delete=models.CASCADE, related_name="runs")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.LIVE)
    owner = models.CharField(max_length=64)
    # The fence: every write of a run names the attempt it belongs to; whoever takes a run over raises it first.
    attempt = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField()
    heartbeat_at = models.DateTimeField(auto_now_add=True)
    stop_requested = models.BooleanField(default=False)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chat"], condition=Q(status="live"), name="run_one_live_a_chat")]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="run_status_lease"),
            models.Index(fields=["chat", "-id"], name="run_newest"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}, attempt {self.attempt}, {self.status}"
