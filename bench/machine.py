"""Where it was measured, and what: figures without this say nothing."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path

from tests.live import ROOT

PACKAGES = ("Django", "channels", "daphne", "Twisted", "openai", "markdown-it-py", "nh3", "xllamacpp")


@dataclass(frozen=True, slots=True)
class Facts:
    commit: str
    machine: str
    system: str
    versions: dict[str, str]


def facts() -> Facts:
    return Facts(
        commit=_commit(),
        machine=f"{_processor()}, {_cores()}, {_memory()} of memory",
        system=f"{_system()}, {platform.python_implementation()} {platform.python_version()}",
        versions={name: version(name) for name in PACKAGES if version(name)},
    )


def heading() -> list[str]:
    told = facts()
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        f"Foldline {told.commit}, measured {date.today().isoformat()}",  # noqa: DTZ011 (the reader's own day)
        f"{told.machine}, load before {load}",
        told.system,
        ", ".join(f"{name} {version}" for name, version in told.versions.items()),
    ]


def version(name: str) -> str:
    """Of an installed package; empty where it isn't there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + (" with changes" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return "of no known commit"


def _processor() -> str:
    return _field(Path("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine()


def _cores() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{os.cpu_count()} cores" if usable == os.cpu_count() else f"{usable} of {os.cpu_count()} cores"


def _memory() -> str:
    told = _field(Path("/proc/meminfo"), "MemTotal")
    return f"{int(told.split()[0]) / 2**20:.1f} GiB" if told else "an unknown amount"


def _system() -> str:
    name = _field(Path("/etc/os-release"), "PRETTY_NAME", separator="=").strip('"')
    return f"{name or platform.system()}, kernel {platform.release()}"


def _field(path: Path, name: str, *, separator: str = ":") -> str:
    if not path.is_file():
        return ""
    lines = (line.partition(separator) for line in path.read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")
