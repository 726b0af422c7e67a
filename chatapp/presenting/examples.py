"""What a person without a chat is offered to begin with."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

EXAMPLES: tuple[Promise, ...] = (
    _("Explain to me, as if I were ten, why bread rises."),
    _("Plan three quiet days in Lisbon for two people who like to walk."),
    _("Help me write a friendly letter to my landlord about a broken boiler."),
)
