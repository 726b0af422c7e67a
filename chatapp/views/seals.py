"""Who was signed in on a page, sealed: so that a form which comes after the session's end can tell."""

from __future__ import annotations

from django.core.signing import BadSignature, Signer

_signer = Signer(salt="foldline.person")


def seal_of(person_id: int) -> str:
    return _signer.sign(str(person_id))


def person_in(seal: str) -> str | None:
    """The id in a seal; None where it isn't ours."""
    try:
        return _signer.unsign(seal)
    except BadSignature:
        return None
