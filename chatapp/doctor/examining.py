"""All examinations, in the order in which one thing rests on another; none of them can end the others."""

from __future__ import annotations

from collections.abc import Iterator

from chatapp.doctor import database, endpoints, layer, machine, network
from chatapp.doctor.findings import Examination, Finding, broken
from chatapp.logs import words_of

ALL: tuple[tuple[str, Examination], ...] = (
    ("database", database.examine),
    ("layer", layer.examine),
    ("disk", machine.examine_disk),
    ("static files", machine.examine_static_files),
    ("secret", machine.examine_secret),
    ("settings", network.examine_settings),
    ("server", network.examine_server),
    ("demo engine", machine.examine_engine),
    ("endpoints", endpoints.examine),
    ("backups", machine.examine_backups),
)


def examine() -> Iterator[Finding]:
    for subject, examination in ALL:
        try:
            yield from examination()
        except Exception as error:  # noqa: BLE001 (what can't be examined is a finding, too)
            yield broken(
                subject, f"It can't be examined ({words_of(error)}).", "See to what is broken above, then ask again."
            )
