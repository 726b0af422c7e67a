"""Who holds a piece of work, and whether that process still lives: what a dead one left is taken over."""

from __future__ import annotations

import os
import secrets
import socket
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

# Host and process for a look, the nonce against a process id that is used again.
PROCESS = f"{socket.gethostname()[:30]}:{os.getpid()}:{secrets.token_hex(6)}"


def maybe_dead(holder: str = "owner") -> Q:
    """Lease over, or held by an earlier process of this host, which needn't be waited for. `holder`: the column."""
    here = {f"{holder}__startswith": socket.gethostname()[:30] + ":"}
    return Q(lease_until__lt=timezone.now()) | (Q(**here) & ~Q(**{holder: PROCESS}))


def is_dead(holder: str, lease_until: datetime | None) -> bool:
    """Of a row that is maybe dead."""
    if lease_until is None or lease_until < timezone.now():
        return True
    process_id = int(holder.split(":")[1])
    if process_id == os.getpid():  # the same number again, as in a restarted container
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
