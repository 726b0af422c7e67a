"""Keys at rest: encrypted with a key derived from the installation's secret (Fernet, HKDF)."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotUnseal(Exception):
    """The secret has changed since the key was stored; it has to be entered again."""


def _fernet() -> Fernet:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"foldline endpoint keys")
    return Fernet(base64.urlsafe_b64encode(derive.derive(settings.SECRET_KEY.encode())))


def seal(clear: str) -> str:
    return _fernet().encrypt(clear.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises CannotUnseal."""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken as wrong:
        raise CannotUnseal("The stored key can't be read with this secret.") from wrong
