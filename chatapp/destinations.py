"""Which hosts an endpoint may have, judged by the addresses that its name leads to, however they are spelled.

Public ones always. Private ones (this machine, its networks) as PRIVATE_ENDPOINTS says. Never those at which clouds
answer with the machine's own credentials, nor what is link-local, multicast or reserved.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

THIS_MACHINE_ONLY = ("127.0.0.0/8", "::1")
# RFC 1918, unique local addresses, and what Tailscale and carriers share (RFC 6598).
EVERY_PRIVATE = (*THIS_MACHINE_ONLY, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "100.64.0.0/10")
# Link-local holds 169.254.169.254 of most clouds; below it those of Alibaba, Azure, Oracle, Amazon and Google.
NEVER = tuple(
    ip_network(network)
    for network in (
        *("169.254.0.0/16", "fe80::/10", "224.0.0.0/4", "ff00::/8", "240.0.0.0/4"),
        *("100.100.100.200", "168.63.129.16", "192.0.0.0/24", "fd00:ec2::/32", "fd20:ce::/32"),
        # Nobody's on the open network, though Python of some versions takes them for public: site-local, segment
        # routing, documentation.
        *("fec0::/10", "5f00::/16", "3fff::/20"),
    )
)
# What holds an IPv4 address in its last 32 bits: NAT64 of everybody and of a network's own (RFC 6052, 8215), SIIT.
HOLDING_IPV4 = tuple(ip_network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96"))
IPV4_COMPATIBLE = ip_network("::/96")
NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", re.IGNORECASE)
MOST_ADDRESSES = 8

# Asking for a name blocks its thread for as long as the resolver is silent, so it has threads of its own: in asyncio's
# pool a dead name server would hold up every database call and every frame.
_askers = ThreadPoolExecutor(8, thread_name_prefix="names")


class Forbidden(Exception):
    """That destination is not called; `code`: private_address (nobody has allowed it) or never_called."""

    def __init__(self, code: str, address: str) -> None:
        super().__init__(f"{code}: {address}")
        self.code = code
        self.address = address


@dataclass(frozen=True, slots=True)
class Destinations:
    """`allowed`: names of hosts, addresses and networks ("10.1.0.0/16") that may be called although private."""

    allowed: tuple[str, ...] = THIS_MACHINE_ONLY

    def checked(self, host: str, addresses: Iterable[str]) -> list[str]:
        """All addresses of the host; raises Forbidden where one of them may not be called, as any might be taken."""
        found = list(dict.fromkeys(addresses))[:MOST_ADDRESSES]
        for address in found:
            self._check(host, _meant(ip_address(address.partition("%")[0])))
        return found

    def _check(self, host: str, address: Address) -> None:
        if any(address in network for network in NEVER):
            raise Forbidden("never_called", str(address))
        if not (address.is_global or self._allows(host, address)):
            raise Forbidden("private_address", str(address))

    def _allows(self, host: str, address: Address) -> bool:
        name = host.rstrip(".").lower()
        return any(
            name == entry.rstrip(".").lower() or (is_network(entry) and address in ip_network(entry, strict=False))
            for entry in self.allowed
        )


THIS_MACHINE = Destinations()


def is_network(entry: str) -> bool:
    """An address is one, too."""
    try:
        ip_network(entry, strict=False)
    except ValueError:
        return False
    return True


def is_destination(entry: str) -> bool:
    """Whether it can stand in `Destinations.allowed`."""
    return is_network(entry) or bool(NAME.fullmatch(entry))


def _meant(address: Address) -> Address:
    """Where packets for it really go: an IPv6 address may hold an IPv4 one, and nobody's address is this machine's."""
    if address.is_unspecified:
        return ip_address("127.0.0.1" if address.version == 4 else "::1")
    inner = _inside(address)
    return address if inner is None else _meant(inner)


def _inside(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if any(address in network for network in HOLDING_IPV4) or (address in IPV4_COMPATIBLE and not address.is_loopback):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def look_up(host: str, port: int) -> Future[list[str]]:
    """The host's addresses in the resolver's order. Raises OSError or UnicodeError, in the future, without any.

    Also the spellings that only the resolver reads: 0xA9FEA9FE, 0251.0376.0251.0376, 2852039166, 169.254.43518.
    """
    known: Future[list[str]] = Future()
    try:
        known.set_result([str(ip_address(host))])
    except ValueError:
        return _askers.submit(_ask, host, port)
    return known


def _ask(host: str, port: int) -> list[str]:
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
