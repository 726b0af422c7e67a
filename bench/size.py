"""Whether this is the quick run (`make bench QUICK=1`: fewer samples, smaller sizes) or the whole one."""

from __future__ import annotations

import os
from typing import TypeVar

QUICK = os.environ.get("QUICK", "") not in {"", "0"}
T = TypeVar("T")


def sized(full: T, quick: T) -> T:
    return quick if QUICK else full
