"""Keys at rest: sealed with a key derived from the secret (Fernet, HKDF); former secrets still open them."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotUnseal(Exception):
    """Neither the secret nor a former one has sealed it; it has to be entered again."""


def _seals() -> MultiFernet:
    """The newest first: it seals, all of them open."""
    return MultiFernet([_seal_of(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _seal_of(secret: str) -> Fernet:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"foldline endpoint keys")
    return Fernet(base64.urlsafe_b64encode(derive.derive(secret.encode())))


def seal(clear: str) -> str:
    return _seals().encrypt(clear.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises CannotUnseal."""
    try:
        return _seals().decrypt(sealed.encode()).decode()
    except InvalidToken as wrong:
        raise CannotUnseal("Neither SECRET_KEY nor one of SECRET_KEY_FALLBACKS has sealed this key.") from wrong


def reseal(sealed: str) -> str:
    """The same under the newest secret, so that the former ones can be forgotten. Raises CannotUnseal."""
    return seal(unseal(sealed))
