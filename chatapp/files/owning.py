"""Files by the ids that a form names, of one person alone."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User

from chatapp.fields import uuid_in
from chatapp.files.limits import MOST_FILES
from chatapp.models import File


def own_files(user: User, named: Sequence[str]) -> list[File]:
    """In the order in which they are named; no more than go with one message are read."""
    ids = list(dict.fromkeys(filter(None, map(uuid_in, named))))[:MOST_FILES]
    own = File.objects.for_user(user).defer("data").in_bulk(ids) if ids else {}
    return [own[pk] for pk in ids if pk in own]
