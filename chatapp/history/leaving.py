"""The end of an account: all that was the person's goes, in one transaction."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from chatapp import sign_ins
from chatapp.history.chats import erase
from chatapp.history.errors import HistoryError
from chatapp.models import Chat, SiteSettings


class LastAdministrator(HistoryError):
    """Nobody would be left who runs this Foldline."""

    code = "last_administrator"


def is_last_administrator(user: User) -> bool:
    others = User.objects.filter(is_staff=True, is_active=True).exclude(pk=user.pk)
    return user.is_staff and user.is_active and not others.exists()


@transaction.atomic
def delete_account(*, user_id: int) -> None:
    """Chats, files, shares and whatever else points at the account; the ledger keeps its rows, which name nobody.

    Raises LastAdministrator. Two administrators who leave at once wait for each other here.
    """
    SiteSettings.lock()
    user = User.objects.get(pk=user_id)
    if is_last_administrator(user):
        raise LastAdministrator
    sign_ins.end_all(user)
    erase(list(Chat.objects.select_for_update().filter(owner=user).order_by("pk").values_list("pk", flat=True)))
    user.delete()
