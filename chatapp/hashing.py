"""Passwords are hashed two at a time: each takes 100 MB, and anybody may ask for it by trying to sign in."""

from __future__ import annotations

import threading

from django.contrib.auth import hashers

AT_ONCE = threading.BoundedSemaphore(2)


class Argon2PasswordHasher(hashers.Argon2PasswordHasher):
    """Django's own, whose hashes these are; whoever comes third waits some tens of milliseconds."""

    def encode(self, password: str, salt: str) -> str:
        with AT_ONCE:
            encoded: str = super().encode(password, salt)
            return encoded

    def verify(self, password: str, encoded: str) -> bool:
        with AT_ONCE:
            return super().verify(password, encoded)
