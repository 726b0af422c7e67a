"""Which chunks of a transcript an earlier try has summarised already, so that the next one goes on there (rule E9)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from compaction.request import RequestMessage


def chained_keys(writer: str, requests: Iterable[tuple[RequestMessage, ...]]) -> tuple[str, ...]:
    """A hash for each chunk, the same again only where `writer` and all requests up to it are the same to the byte.

    `requests`: what is asked for each chunk, without the summary so far.
    """
    chain = sha256(writer.encode())
    keys = []
    for request in requests:
        chain.update(repr([(message.role, message.content) for message in request]).encode())
        keys.append(chain.hexdigest())
    return tuple(keys)
