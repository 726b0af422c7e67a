"""What the system says of another process: its processor time, its memory, its children."""

from __future__ import annotations

import sys
import time

import psutil


def cpu_seconds(pid: int) -> float:
    """User and system time of all its threads, ended ones too."""
    if sys.platform == "linux":  # what clock_getcpuclockid(3) makes of a process id; the rest counts in steps of 10 ms
        return time.clock_gettime((~pid << 3) | 2)
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def resident_bytes(pid: int) -> int:
    resident: int = psutil.Process(pid).memory_info().rss
    return resident


def children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def wait_until_quiet(*pids: int, seconds: float = 15) -> None:
    """Until their memory has stood still for a second."""
    end, known, still = time.monotonic() + seconds, [0], 0
    while still < 4 and time.monotonic() < end:
        now = [resident_bytes(pid) // 2**20 for pid in pids]
        still = still + 1 if now == known else 0
        known = now
        time.sleep(0.25)
