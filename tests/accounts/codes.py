"""What an app shows, and somebody who has one."""

from __future__ import annotations

import time

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.contrib.auth.models import User

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def with_app(user: User) -> User:
    """The person, with codes of an app and recovery codes."""
    TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def code(secret: str = SECRET) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


def recovery_codes(user: User) -> list[str]:
    return Authenticator.objects.get(user=user, type="recovery_codes").wrap().get_unused_codes()
