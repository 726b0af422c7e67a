"""A reply that broke off goes on: what is sent so that only the rest of it comes back."""

from __future__ import annotations

from dataclasses import replace

from compaction.request import RequestMessage
from compaction.transcript import Message, Status, Transcript

GO_ON = (
    "Your last message broke off. Go on exactly where its text stops, from the very next character, be it a space or "
    "a line break. Repeat nothing of it, change nothing in it, and add no remark about it."
)


def with_partial(transcript: Transcript, partial: Message) -> Transcript:
    """The chat up to and with the reply that broke off, which is sent as it stands, without a mark."""
    return replace(transcript, messages=(*transcript.messages, replace(partial, status=Status.STOPPED)))


def asking_to_go_on(request: tuple[RequestMessage, ...]) -> tuple[RequestMessage, ...]:
    """A request that ends with the model's own words asks for the rest of them; any other stays as it is.

    The question is stored nowhere, so that the next request holds the reply whole and nothing between its parts.
    """
    if not request or request[-1].role != "assistant":
        return request
    return (*request, RequestMessage("user", GO_ON))
