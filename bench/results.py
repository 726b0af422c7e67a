"""What a run leaves behind: build/bench/results.json, and build/bench/report.html made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import machine
from bench.table import Line, Section, median, p5, p95
from tests.live import ROOT

FOLDER = ROOT / "build" / "bench"


@dataclass
class Run:
    """One run of the bench: where, when, and each section as soon as it is measured."""

    is_quick: bool
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    load_before: tuple[float, ...] = field(default_factory=os.getloadavg)
    facts: machine.Facts = field(default_factory=machine.facts)
    sections: list[Section] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON; times are ISO 8601 in UTC, a load is that of 1, 5 and 15 minutes."""
        return {
            **asdict(self.facts),
            "began": self.began.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "load_before": [round(load, 2) for load in self.load_before],
            "load_after": [round(load, 2) for load in os.getloadavg()],
            "is_quick": self.is_quick,
            "sections": [
                {"title": section.title, "lines": [_line(line) for line in section.lines]} for section in self.sections
            ],
        }


def _line(line: Line) -> dict[str, object]:
    told = {name: value for name, value in asdict(line).items() if value}
    if line.samples:
        told |= {"median": median(line.samples), "p5": p5(line.samples), "p95": p95(line.samples)}
    return told


def write(run: Run, folder: Path = FOLDER) -> Path:
    """results.json in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.json"
    kept.write_text(json.dumps(run.as_dict(), indent=1, ensure_ascii=False) + "\n")
    return kept


def draw(kept: Path) -> Path:
    """report.html beside it. In a process of its own: pygal hooks itself into the imports of the one that loads it."""
    page = kept.with_name("report.html")
    with page.open("wb") as output:
        subprocess.run([sys.executable, "-m", "bench.report", str(kept)], cwd=ROOT, stdout=output, check=True)
    return page
