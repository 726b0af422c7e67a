"""Deleting an account, with the files that lie outside the database."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.models import User
from django.db import transaction

from chatapp.history import leaving
from chatapp.importing import files
from chatapp.models import Import


def delete_account(user: User) -> None:
    """All that was the person's. Raises LastAdministrator, and nothing has happened then."""
    imports = list(Import.objects.for_user(user).values_list("pk", flat=True))
    leaving.delete_account(user_id=user.pk)
    for import_id in imports:
        transaction.on_commit(partial(files.discard, import_id))
