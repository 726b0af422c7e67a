"""Where models are served, and what is known of each model: its context window and where that number is from."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, URLValidator
from django.db import models
from django.db.models import Q, TextChoices
from django.utils.translation import gettext_lazy as _

from chatapp import sealing


class Endpoint(models.Model):
    class Kind(TextChoices):
        ADMIN = "admin", _("entered in the admin")
        ENVIRONMENT = "environment", _("from the environment")
        DEMO = "demo", _("the built-in demo engine")

    name = models.CharField(_("name"), max_length=100, unique=True)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.ADMIN, editable=False)
    # Empty for the demo engine: each process asks its own supervisor for the address.
    base_url = models.CharField(
        _("base URL"), max_length=500, blank=True, validators=[URLValidator(schemes=["http", "https"])]
    )
    sealed_key = models.TextField(blank=True, editable=False)
    enabled = models.BooleanField(_("enabled"), default=True)
    is_local = models.BooleanField(
        _("keeps its prompt cache"),
        default=False,
        help_text=_(
            "A server of your own that keeps the last prompts (llama.cpp, vLLM): summaries are asked for as one "
            "more turn, and the prompt is warmed after a compaction."
        ),
    )
    checked_at = models.DateTimeField(_("checked at"), null=True, blank=True, editable=False)
    check_outcome = models.CharField(max_length=500, blank=True, editable=False)

    # Its circuit (history/circuits.py): calls in a row that didn't get through, and until when it is left alone.
    failures = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    rests_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("endpoint")
        verbose_name_plural = _("endpoints")
        constraints = [
            models.UniqueConstraint(
                fields=["kind"], condition=~Q(kind="admin"), name="endpoint_one_demo_one_environment"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_demo(self) -> bool:
        return self.kind == self.Kind.DEMO

    @property
    def keeps_cache(self) -> bool:
        return self.is_demo or self.is_local

    @property
    def is_unreachable(self) -> bool:
        """As far as is known: when it was last asked, by the admin or for a reply, it couldn't be reached."""
        return self.check_outcome.startswith("unreachable")

    @property
    def is_in_trouble(self) -> bool:
        """Whether the next call that gets through is news."""
        return self.failures > 0 or self.rests_until is not None or self.is_unreachable

    @property
    def has_key(self) -> bool:
        return bool(self.sealed_key)

    def set_key(self, key: str) -> None:
        self.sealed_key = sealing.seal(key) if key else ""

    def reveal_key(self) -> str:
        """The key in clear, for the call itself only. Raises sealing.CannotUnseal when the secret has changed."""
        return sealing.unseal(self.sealed_key) if self.sealed_key else ""


class LanguageModelQuerySet(models.QuerySet["LanguageModel"]):
    def usable(self) -> LanguageModelQuerySet:
        return self.filter(enabled=True, endpoint__enabled=True).select_related("endpoint").order_by("pk")


class LanguageModel(models.Model):
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="models", verbose_name=_("endpoint"))
    name = models.CharField(_("name"), max_length=200, help_text=_("The model’s id, as the endpoint calls it."))
    enabled = models.BooleanField(_("enabled"), default=True)
    # Rule A1, in this order; 0 is unknown and never guessed.
    window_set = models.PositiveIntegerField(
        _("context window"), default=0, help_text=_("In tokens. 0: as the endpoint says, or unknown.")
    )
    window_reported = models.PositiveIntegerField(_("window reported"), default=0, editable=False)
    window_learned = models.PositiveIntegerField(_("window learned"), default=0, editable=False)
    threshold_percent = models.PositiveSmallIntegerField(
        _("threshold"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(100)],
        help_text=_(
            "Percent of the window at which this model’s chats are compacted. Empty: as in the settings. "
            "0: never by themselves."
        ),
    )
    # Recorded tokens to one estimated, learned from usage (rule A4).
    estimate_ratio = models.FloatField(default=1.0, editable=False)
    # Why summaries of this model aren't asked for as a continuation any more (rule E3); empty while they are.
    continuation_suspended = models.CharField(max_length=40, blank=True, editable=False)
    continuation_empties = models.PositiveSmallIntegerField(default=0, editable=False)
    no_system_role = models.BooleanField(
        _("no system role"),
        default=False,
        help_text=_("The model’s template takes no system message (Gemma, for example)."),
    )
    sees_images = models.BooleanField(
        _("sees images"),
        default=False,
        help_text=_(
            "Whether images may be attached in its chats; they are sent as image_url parts. It acts from the next "
            "message on."
        ),
    )
    prompt_price = models.DecimalField(
        _("price per million prompt tokens"), max_digits=10, decimal_places=4, null=True, blank=True
    )
    completion_price = models.DecimalField(
        _("price per million completion tokens"), max_digits=10, decimal_places=4, null=True, blank=True
    )

    objects = LanguageModelQuerySet.as_manager()

    class Meta:
        verbose_name = _("language model")
        verbose_name_plural = _("language models")
        constraints = [models.UniqueConstraint(fields=["endpoint", "name"], name="model_once_an_endpoint")]

    def __str__(self) -> str:
        return self.name

    @property
    def window_tokens(self) -> int:
        """Context window in tokens (rule A1); 0 is unknown."""
        return self.window_set or self.window_reported or self.window_learned

    @property
    def window_source(self) -> str:
        """Where the window is from: "admin", "endpoint", "learned" or "unknown"."""
        for tokens, source in (
            (self.window_set, "admin"),
            (self.window_reported, "endpoint"),
            (self.window_learned, "learned"),
        ):
            if tokens:
                return source
        return "unknown"
