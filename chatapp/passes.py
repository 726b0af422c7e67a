"""Who opens a socket, and whether they are still signed in: one look for all of a process, every two seconds.

Signing out, here or everywhere, a suspension, another password and the end of an account all change rows, so each
process sees them by itself, whichever one they came to; no event has to arrive.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.http import parse_cookie
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatapp import events
from chatapp.database import AWAY, in_database

log = logging.getLogger("foldline.passes")

SECONDS_BETWEEN = 2


@dataclass(frozen=True, slots=True)
class Pass:
    """What a socket was opened with: a session, whose it is, and what Django hashes of the password."""

    session_key: str
    user_id: int
    auth_hash: str


def holder_of(cookies: str) -> tuple[User, Pass] | None:
    """Whose session the cookies of a socket name, in two queries; None where it is nobody's any more.

    As Django finds out for a request, but for one thing: a session that was hashed with a former secret stays as it is,
    since no answer could bring the browser another one.
    """
    session = SessionStore(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    person = User.objects.filter(pk=session[SESSION_KEY], is_active=True).first()
    if person is None:
        return None
    auth_hash, shown = person.get_session_auth_hash(), session.get(HASH_SESSION_KEY, "")
    if not any(constant_time_compare(shown, each) for each in (auth_hash, *person.get_session_auth_fallback_hash())):
        return None
    return person, Pass(session.session_key or "", person.pk, auth_hash)


async def watch_for_ever() -> None:
    """Tell every socket whose pass no longer holds; where no socket is open nothing is asked."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        try:
            if held := [topic for topic in events.topics() if isinstance(topic, Pass)]:
                for each in await in_database(gone, held):
                    events.tell_here(each, events.SignedOut())
        except AWAY as error:
            log.warning("Who is still signed in could not be read: %s", error)
        except Exception:
            log.exception("Who is still signed in could not be read; it will be again.")


def gone(held: Collection[Pass]) -> list[Pass]:
    """Those that no longer hold; two queries, whatever their number."""
    sessions = Session.objects.filter(session_key__in={each.session_key for each in held})
    living = set(sessions.filter(expire_date__gt=timezone.now()).values_list("session_key", flat=True))
    people = User.objects.filter(pk__in={each.user_id for each in held}, is_active=True).only("password")
    hashes = {person.pk: person.get_session_auth_hash() for person in people}
    return [each for each in held if each.session_key not in living or hashes.get(each.user_id) != each.auth_hash]
