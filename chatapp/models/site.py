"""The one row of settings that the admin edits (django-solo)."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from solo.models import SingletonModel

from compaction import prompts


def validate_summary_prompt(template: str) -> None:
    """Form error for a template with an unknown or broken variable (rule E5)."""
    try:
        prompts.check_template(template)
    except prompts.BrokenTemplate as broken:
        raise ValidationError(_sentence(broken)) from broken


def _sentence(broken: prompts.BrokenTemplate) -> str:
    if not broken.variable:
        return gettext("A brace is left open or closed alone; write {{ or }} for a brace itself.")
    known = ", ".join(f"{{{name}}}" for name in prompts.VARIABLES)
    return gettext("%(name)s is not a variable here; use %(known)s.") % {"name": broken.variable, "known": known}


class SiteSettings(SingletonModel):
    threshold_percent = models.PositiveSmallIntegerField(
        _("threshold"),
        default=85,
        validators=[MaxValueValidator(100)],
        help_text=_(
            "Percent of the model’s context window at which earlier turns are folded before the next message is "
            "sent. 0 turns automatic compaction off; “Compact now” keeps working."
        ),
    )
    tail_percent = models.PositiveSmallIntegerField(
        _("tail"),
        default=30,
        validators=[MaxValueValidator(60)],
        help_text=_(
            "Percent of the live tokens that stay word for word when earlier turns are folded, 0 to 60. "
            "The last complete turn always stays."
        ),
    )
    summary_percent = models.PositiveSmallIntegerField(
        _("summary length"),
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text=_(
            "Length of a summary in percent of the window; never under 300 or over 2,000 tokens, "
            "nor more than a quarter of what it replaces."
        ),
    )
    exact_percent = models.PositiveSmallIntegerField(
        _("exact values"),
        default=4,
        validators=[MaxValueValidator(20)],
        help_text=_(
            "Percent of the window that paths, numbers, dates and names may take which a summary lost "
            "and Foldline puts under it. 0: none."
        ),
    )
    compacts_when_idle = models.BooleanField(
        _("fold when idle"),
        default=True,
        help_text=_(
            "When a reply has ended and the threshold is reached, earlier turns are folded then, so that nobody waits."
        ),
    )
    warms_prompt = models.BooleanField(
        _("warm the prompt"),
        default=True,
        help_text=_(
            "After folding, the new prompt is sent once to an endpoint that keeps its cache, "
            "so that the next reply begins at once."
        ),
    )
    summariser = models.ForeignKey(
        "LanguageModel",
        verbose_name=_("summariser"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("Who writes the summaries. Empty: the chat’s own model."),
    )
    default_model = models.ForeignKey(
        "LanguageModel",
        verbose_name=_("default model"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("What a new chat starts with. Empty: the first usable one."),
    )
    system_prompt = models.TextField(
        _("system prompt"),
        blank=True,
        help_text=_("What a new chat starts with as its system prompt. Chats that exist keep theirs."),
    )
    temporary_hours = models.PositiveIntegerField(
        _("temporary chats"),
        default=24,
        validators=[MinValueValidator(1), MaxValueValidator(8760)],
        help_text=_(
            "Hours after which a chat that was begun as a temporary one is deleted with all its messages, unless "
            "its owner keeps it."
        ),
    )
    summary_prompt = models.TextField(
        _("summary prompt"),
        blank=True,
        validators=[validate_summary_prompt],
        help_text=_(
            "Instructions for the summariser. Empty: the built-in ones. Variables: {language_hint}, {words}, "
            "{instructions}; a line whose variable is empty disappears."
        ),
    )
    shares_with_anyone = models.BooleanField(
        _("links for anyone"),
        default=False,
        help_text=_(
            "Whether a person may share a copy of a chat with people who aren’t signed in. Switched off, links that "
            "were made so ask for signing in."
        ),
    )
    sign_up_open = models.BooleanField(
        _("sign-up"),
        default=False,
        help_text=_("Whether strangers who reach this page may make an account themselves."),
    )
    second_factor_for_staff = models.BooleanField(
        _("second factor"),
        default=False,
        help_text=_(
            "Whether administrators need a second factor (a code from an app, or a passkey) before these settings "
            "open. Who has none is led to set one up; the chats stay open."
        ),
    )
    audit_days = models.PositiveIntegerField(
        _("audit log"),
        default=365,
        validators=[MaxValueValidator(36500)],
        help_text=_("Days for which the audit log keeps who did what, when and from where. 0: for ever."),
    )
    stall_seconds = models.PositiveIntegerField(
        _("idle limit"),
        default=120,
        validators=[MinValueValidator(5), MaxValueValidator(3600)],
        help_text=_("Seconds without a new token, once a reply has begun, after which it counts as interrupted."),
    )
    first_token_seconds = models.PositiveIntegerField(
        _("patience"),
        default=600,
        validators=[MinValueValidator(5), MaxValueValidator(7200)],
        help_text=_("Seconds to wait for the first token: a cold local model may need minutes."),
    )

    sends_a_minute = models.PositiveIntegerField(
        _("messages a minute"),
        default=0,
        help_text=_("How many messages one person may send within a minute, new replies and edits among them."),
    )
    runs_at_once = models.PositiveIntegerField(
        _("replies at once"),
        default=0,
        help_text=_(
            "How many replies may be written for one person at the same time, in all their chats. At 0 there are at "
            "most four where tokens or money are limited, as what a reply uses is known at its end."
        ),
    )
    tokens_a_day = models.PositiveBigIntegerField(
        _("tokens a day"),
        default=0,
        help_text=_("Prompt and completion tokens of all calls for one person: replies, folding, titles."),
    )
    money_a_day = models.DecimalField(
        _("money a day"),
        default=0,
        max_digits=12,
        decimal_places=4,
        validators=[MinValueValidator(0)],
        help_text=_("What those calls may cost, in the currency of the models’ prices. Without prices nothing counts."),
    )
    upload_megabytes_a_day = models.PositiveIntegerField(
        _("uploads a day"), default=0, help_text=_("Megabytes of files that one person may attach or import.")
    )

    class Meta:
        verbose_name = verbose_name_plural = _("settings")

    def __str__(self) -> str:
        return gettext("Settings")

    @classmethod
    def lock(cls) -> None:
        """Let one transaction at a time go on: what must happen once an installation waits here for its turn.

        PostgreSQL waits for the locked row; SQLite's transactions are IMMEDIATE, so the second has not begun yet.
        """
        cls.get_solo()
        cls.objects.select_for_update().get(pk=cls.singleton_instance_id)
