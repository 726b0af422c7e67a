"""What the environment says, read once; a value that can't be right is kept here for the system checks to name."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import dj_database_url

from chatapp.destinations import EVERY_PRIVATE, Destinations, is_destination

SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Complaint:
    """One value that can't be right: its name, what is wrong with it, and what would be right."""

    name: str
    problem: str
    hint: str


@dataclass(slots=True)
class Environment:
    """Typed readings of environment variables; complaints are collected, defaults stand in for bad values."""

    values: dict[str, str]
    complaints: list[Complaint] = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def number(self, name: str, default: int, *, least: int, most: int) -> int:
        raw = self.text(name)
        if not raw:
            return default
        try:
            value = int(raw)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            self.complain(
                name, f"is “{raw}”, which is not a whole number from {least} to {most}", f"Leave it out for {default}."
            )
            return default
        return value

    def switch(self, name: str, *, default: bool) -> bool:
        raw = self.text(name).lower()
        if raw in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
            return raw in {"1", "true", "yes", "on"} if raw else default
        self.complain(name, f"is “{raw}”, which is neither yes nor no", "Use 1 or 0.")
        return default

    def one_of(self, name: str, choices: Sequence[str], *, default: str = "") -> str:
        """One of the choices, however it is written; the first without a default."""
        default = default or choices[0]
        raw = self.text(name) or default
        found = next((choice for choice in choices if choice.lower() == raw.lower()), "")
        if not found:
            self.complain(name, f"is “{raw}”, which is none of {', '.join(choices)}", f"Leave it out for {default}.")
        return found or default

    def token(self, name: str) -> str:
        """Something that opens a door: too short, it is as if none were set. It isn't shown."""
        token = self.text(name)
        if token and len(token) < SHORTEST_TOKEN:
            self.complain(name, f"has less than {SHORTEST_TOKEN} characters", "Use what `openssl rand -hex 24` prints.")
            return ""
        return token

    def words(self, name: str) -> list[str]:
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def database(self, name: str, fallback: dict[str, Any]) -> dict[str, Any]:
        """Django's settings for the database at that address, or `fallback`. The address itself may hold a password."""
        url = self.text(name)
        if not url:
            return fallback
        try:
            if urlsplit(url).scheme in {"postgres", "postgresql"}:
                return dict(dj_database_url.parse(url, conn_max_age=0, conn_health_checks=True))
            problem = "is no address of a PostgreSQL database"
        except ValueError:
            problem = "can't be read as an address"
        self.complain(name, problem, "Use postgresql://user:password@host:5432/name, or leave it out for SQLite.")
        return fallback

    def origin(self, name: str) -> str:
        """Scheme and host of a public address, as a browser sends it in Origin; empty when there is none."""
        raw = self.text(name).rstrip("/")
        try:
            parts = urlsplit(raw)
            usable = (
                parts.scheme in {"http", "https"} and bool(parts.hostname) and raw == f"{parts.scheme}://{parts.netloc}"
            )
            _ = parts.port
        except ValueError:
            usable = False
        if raw and not usable:
            self.complain(name, f"is “{raw}”, which is not scheme and host alone", "Use https://chat.example.org.")
        return raw if usable else ""

    def destinations(self, name: str, *, base_url: str) -> Destinations:
        """The private hosts that endpoints may have: every one, or only those named and the host of `base_url`."""
        words = self.words(name)
        for word in words:
            if not is_destination(word):
                hint = "Use 10.1.2.3, 10.1.0.0/16 or llm.lan, with commas between."
                self.complain(name, f"holds “{word}”, which is no host name, address or network", hint)
        own = _host_of(base_url)
        return Destinations((*words, own) if words and own else tuple(words) or EVERY_PRIVATE)

    def networks(self, name: str, default: str) -> tuple[IPv4Network | IPv6Network, ...]:
        """Addresses and networks with commas between; what is none of either is complained of and left out."""
        found = []
        for word in self.words(name) or default.split(","):
            try:
                found.append(ip_network(word))
            except ValueError:
                hint = f"Use 10.1.2.3 or 10.1.0.0/16, with commas between, or leave it out for {default}."
                self.complain(name, f"holds “{word}”, which is neither an address nor a network", hint)
        return tuple(found)

    def time_zone(self, name: str) -> str:
        raw = self.text(name, "UTC").removeprefix(":")
        try:
            return ZoneInfo(raw).key
        except (KeyError, ValueError, OSError):
            self.complain(name, f"is “{raw}”, which is not the name of a time zone", "Use Europe/Berlin, for example.")
            return "UTC"

    def secret(self, name: str, path: Path) -> str:
        """The value itself, or the one kept in `path` in FOLDLINE_DATA, which must be a folder that can be written."""
        try:
            return self.text(name) or read_or_make_secret(path)
        except OSError as error:
            problem = f"is {path.parent}, where nothing can be stored ({error.strerror})"
            self.complain("FOLDLINE_DATA", problem, "Name a folder that this user may write to.")
            return secrets.token_urlsafe(50)

    def complain(self, name: str, problem: str, hint: str) -> None:
        self.complaints.append(Complaint(name, problem, hint))


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # complained of by a check of its own
        return ""


def read_environment() -> Environment:
    return Environment(dict(os.environ))


def read_or_make_secret(path: Path) -> str:
    """The installation's secret, made once with mode 0600; outside the repository's history (data/ is ignored)."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # chats are nobody else's
    secret = secrets.token_urlsafe(50)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secret)
    except FileExistsError:  # another process was first
        return path.read_text().strip()
    return secret
