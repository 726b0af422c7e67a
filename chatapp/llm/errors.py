"""What can go wrong with a call, split by what the caller does next; `code` picks the sentence in the template.

EndpointError
├── EndpointUnreachable   check the address, try again later
├── EndpointBusy          wait (`retry_after` seconds, where told)
├── EndpointRefused       tell the person or the admin; trying again won't help
├── RequestTooLong        compact, then once more (`window` tokens, 0 where not told)
├── EndpointFailed        the endpoint's own fault; Retry is offered
├── NotAStream            the address answers with something else (`content_type`)
├── StreamBroken          the reply ended early; what came is kept
└── ReplyTooLarge         the reply was cut at our cap; what came is kept
"""

from __future__ import annotations


class EndpointError(Exception):
    """`detail`: the endpoint's own words, one line of at most 300 characters, without the key."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class EndpointUnreachable(EndpointError):
    """`dropped`: there was a connection, and it ended before the first byte (a stale one does that)."""

    def __init__(self, detail: str = "", *, dropped: bool = False) -> None:
        super().__init__("unreachable", detail)
        self.dropped = dropped


class EndpointBusy(EndpointError):
    """`retry_after` in seconds, None where not told; `exhausted` where waiting doesn't help (a quota is used up)."""

    def __init__(self, retry_after: float | None, detail: str = "", *, exhausted: bool = False) -> None:
        super().__init__("busy", detail)
        self.retry_after = retry_after
        self.exhausted = exhausted


class EndpointRefused(EndpointError):
    """Codes: wrong_key, forbidden, no_such_model, bad_request, content_filter, and destinations.Forbidden's.

    `options`: those that it speaks of.
    """

    def __init__(self, code: str, detail: str = "", *, options: frozenset[str] = frozenset()) -> None:
        super().__init__(code, detail)
        self.options = options


class RequestTooLong(EndpointError):
    def __init__(self, window: int, detail: str = "") -> None:
        super().__init__("too_long", detail)
        self.window = window


class EndpointFailed(EndpointError):
    """`is_loading`: the model is being loaded, which may take minutes and is worth waiting for.

    `is_away`: whoever stands before it says that it isn't there; else this one request may be what it fails at.
    """

    def __init__(self, detail: str = "", *, is_loading: bool = False, is_away: bool = False) -> None:
        super().__init__("server_error", detail)
        self.is_loading = is_loading
        self.is_away = is_away


class NotAStream(EndpointError):
    def __init__(self, content_type: str, detail: str = "") -> None:
        super().__init__("not_a_stream", detail or content_type)
        self.content_type = content_type


class StreamBroken(EndpointError):
    """Codes: cut_off, stalled, no_first_token, garbled, error_in_stream, empty_reply."""


class ReplyTooLarge(EndpointError):
    def __init__(self, detail: str = "") -> None:
        super().__init__("reply_too_large", detail)
