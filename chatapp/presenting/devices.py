"""A browser and a place in words, as far as the browser and the address say: neither is more than a hint."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from django.utils.translation import gettext

from chatapp.models import SignIn

# The first that is found: most browsers also call themselves by the names of older ones.
BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"),
            ("Chrom", "Chrome"), ("Safari", "Safari"))  # fmt: skip
SYSTEMS = (("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS", "macOS"),
           ("CrOS", "ChromeOS"), ("Linux", "Linux"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Device:
    """One line of the list of where a person is signed in."""

    sign_in: SignIn
    name: str
    place: str
    is_this: bool


def read_devices(sign_ins: list[SignIn], session_key: str | None) -> list[Device]:
    return [
        Device(each, device_name(each.device), place_of(each.address), each.session_key == session_key)
        for each in sign_ins
    ]


def device_name(user_agent: str) -> str:
    browser = _first(BROWSERS, user_agent)
    system = _first(SYSTEMS, user_agent)
    if browser and system:
        return gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or gettext("An unknown browser")


def place_of(address: str | None) -> str:
    """The address, and what it alone tells of where that is; nobody is asked about it."""
    if not address:
        return ""
    ip = ip_address(address)
    if ip.is_loopback:
        return gettext("%(address)s, this very machine") % {"address": address}
    if ip.is_private:
        return gettext("%(address)s, in this network") % {"address": address}
    return address


def _first(known: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for part, name in known if part in user_agent), "")
