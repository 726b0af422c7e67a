"""Who did what, when and from where: rows that are written once, and go when their time is over."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """Never changed, so it names its people in words instead of pointing at rows that may go.

    No text of a message, no secret: `detail` holds names of fields, harmless values and counts.
    """

    class Action(models.TextChoices):
        SIGNED_IN = "signed_in", _("signed in")
        SIGNED_OUT = "signed_out", _("signed out")
        SIGN_IN_FAILED = "sign_in_failed", _("sign-in failed")
        LOCKED_OUT = "locked_out", _("locked out")
        SESSIONS_ENDED = "sessions_ended", _("ended sessions")
        PASSWORD_CHANGED = "password_changed", _("changed a password")
        RESET_LINK_MADE = "reset_link_made", _("made a link for a new password")
        FACTOR_ADDED = "factor_added", _("added a second factor")
        FACTOR_REMOVED = "factor_removed", _("removed a second factor")
        FACTOR_FAILED = "factor_failed", _("second factor failed")
        ACCOUNT_MADE = "account_made", _("made an account")
        ACCOUNT_LINKED = "account_linked", _("linked an account")
        ACCOUNT_DELETED = "account_deleted", _("deleted an account")
        CHATS_DELETED = "chats_deleted", _("deleted chats")
        EXPORTED = "exported", _("exported")
        ADDED = "added", _("added")
        CHANGED = "changed", _("changed")
        DELETED = "deleted", _("deleted")
        KEY_CHANGED = "key_changed", _("changed a key")
        KEYS_ROTATED = "keys_rotated", _("rotated keys")

    created_at = models.DateTimeField(_("when"), default=timezone.now, db_index=True, editable=False)
    action = models.CharField(_("what"), max_length=20, choices=Action.choices)
    # Empty: the machine itself, or nobody who is known.
    actor = models.CharField(_("who"), max_length=150, blank=True)
    # The same name may be another person's later.
    actor_id = models.BigIntegerField(null=True, blank=True)
    target = models.CharField(_("to what"), max_length=200, blank=True)
    detail = models.TextField(_("detail"), blank=True)
    address = models.GenericIPAddressField(_("from where"), null=True, blank=True)
    device = models.CharField(_("with what"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("audit log entry")
        verbose_name_plural = _("audit log")

    def __str__(self) -> str:
        return f"{self.actor or '–'}: {self.action} {self.target}".strip()
