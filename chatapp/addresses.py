"""By which names and addresses this machine is reached: what to print, and which hosts to answer to."""

from __future__ import annotations

import socket

EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104 (compared, not bound)
# Reserved for documents (RFC 5737): asking for the way there sends nothing, and tells which address others see.
NOBODY = ("192.0.2.1", 9)


def lan_address() -> str:
    """This machine's address on its network; empty without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOBODY)
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
        return address


def own_names(host: str) -> list[str]:
    """The hosts to answer to when `host` is listened on: never just anybody's name for us."""
    names = ["localhost", "127.0.0.1", "[::1]"]
    if host in EVERYWHERE:
        name = socket.gethostname()
        return [*names, name, f"{name}.local", *filter(None, [lan_address()])]
    return [*names, bracketed(host)]


def addresses(host: str, port: int) -> list[str]:
    """The addresses to print for a person; the one for this very machine first."""
    hosts = ["127.0.0.1", lan_address()] if host in EVERYWHERE else [bracketed(host)]
    return [f"http://{name}:{port}/" for name in hosts if name]


def to_print(public_url: str, host: str, port: int) -> list[str]:
    """What people type: the public address alone where there is one."""
    return [f"{public_url}/"] if public_url else addresses(host, port)


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
