"""What the system says of another process: its processor time, its memory, its children. Linux only."""

from __future__ import annotations

import time
from pathlib import Path

PROC = Path("/proc")


def cpu_seconds(pid: int) -> float:
    """User and system time of all its threads, ended ones too. /proc/<pid>/stat says the same in steps of 10 ms."""
    return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) makes of a process id


def resident_bytes(pid: int) -> int:
    return _kibibytes(PROC / str(pid) / "status", "VmRSS") * 1024


def unshared_bytes(pid: int) -> int:
    """Without the pages of files, such as a model that is mapped and can be read again from the disk."""
    return _kibibytes(PROC / str(pid) / "status", "RssAnon") * 1024


def children(pid: int) -> list[int]:
    found = []
    for task in (PROC / str(pid) / "task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def wait_until_quiet(*pids: int, seconds: float = 15) -> None:
    """Until their memory has stood still for a second."""
    end, known, still = time.monotonic() + seconds, [0], 0
    while still < 4 and time.monotonic() < end:
        now = [resident_bytes(pid) // 2**20 for pid in pids]
        still = still + 1 if now == known else 0
        known = now
        time.sleep(0.25)


def _kibibytes(path: Path, name: str) -> int:
    line = next(line for line in path.read_text().splitlines() if line.startswith(name + ":"))
    return int(line.split()[1])
