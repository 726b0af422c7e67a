"""`manage.py doctor`: what is in order, what to look at, and what is broken, with what to do about it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from chatapp import doctor
from chatapp.doctor import Finding, Level


class Command(BaseCommand):
    help = "Examines this installation: database, layer, endpoints, the way through the proxy, clock, disk, backups."
    requires_system_checks: list[str] = []  # it has to be able to speak where they fail

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="the same for machines")

    def handle(self, *, as_json: bool, **_: Any) -> None:
        """Exits with 1 where something is broken."""
        counts: Counter[Level] = Counter()
        found = []
        for finding in doctor.examine():
            counts[finding.level] += 1
            found.append(finding)
            if not as_json:
                self.say(finding)
        if as_json:
            self.stdout.write(json.dumps([asdict(finding) for finding in found], indent=1, ensure_ascii=False))
        else:
            self.stdout.write(", ".join(f"{level}: {counts[level]}" for level in Level))
        if counts[Level.BROKEN]:
            sys.exit(1)

    def say(self, finding: Finding) -> None:
        style = {Level.OK: self.style.SUCCESS, Level.LOOK: self.style.WARNING, Level.BROKEN: self.style.ERROR}
        self.stdout.write(f"{style[finding.level](finding.level.value)} · {finding.subject}: {finding.words}")
        if finding.remedy:
            self.stdout.write(f"    {finding.remedy}")
