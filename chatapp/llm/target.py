"""Where a call goes: the address, the key, the model, and how long one waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from chatapp.destinations import THIS_MACHINE, Destinations

# People paste what a manual shows; the client adds these parts itself.
PASTED_ENDINGS = ("/chat/completions", "/completions", "/models")


@dataclass(frozen=True, slots=True)
class Target:
    """`first_token_seconds` is patience for a cold model; `idle_seconds` the longest silence within a reply.

    `destinations`: the private hosts that the address may lead to.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    first_token_seconds: float = 600
    idle_seconds: float = 120
    destinations: Destinations = THIS_MACHINE


def normal_base_url(address: str) -> str:
    """Without what people paste by mistake; a bare host gets `/v1`, where all answer. Raises ValueError."""
    parts = urlsplit(address.strip())
    if not 0 < (parts.port or 1) < 65_536:  # asking for the port checks it
        raise ValueError("Port out of range")
    path = parts.path.rstrip("/")
    for ending in PASTED_ENDINGS:
        path = path.removesuffix(ending)
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", parts.query, ""))


def server_root(base_url: str) -> str:
    """The address without the API's own path: llama.cpp and Ollama answer their other questions there."""
    parts = urlsplit(normal_base_url(base_url))
    return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", ""))
