"""One call as a stream of events. The one layer that tries again: before the first token only, visibly, cancellable."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from chatapp.llm.calling import read_reply
from chatapp.llm.clients import Connection, connection_to
from chatapp.llm.deltas import Event, Waiting
from chatapp.llm.errors import EndpointError, EndpointRefused
from chatapp.llm.options import make_body, refused_option
from chatapp.llm.patience import USUAL_PATIENCE, Patience, Retries
from chatapp.llm.target import Target


async def stream_chat(
    target: Target,
    payload: list[dict[str, Any]],
    *,
    params: dict[str, Any] | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    patience: Patience = USUAL_PATIENCE,
    unread_seconds: Callable[[], float] | None = None,
) -> AsyncGenerator[Event, None]:
    """The events of one reply; the last is Finished. Raises EndpointError; what was yielded before it is good.

    Cancelling the task or closing the generator closes the connection at once, so that the engine stops.
    `unread_seconds()`: for how long nobody would see what comes; once a reply is under way, it isn't read before.
    Of `params` what options.offered lets through is sent. Wrap in `contextlib.aclosing` where the loop may end early.
    """
    retries = Retries(patience, target.first_token_seconds)
    async with connection_to(target) as connection:
        while True:
            refused = {option for model, option in connection.refused_options if model == target.model}
            body = make_body(
                target.model, payload, params=params, max_tokens=max_tokens, temperature=temperature, refused=refused
            )
            has_begun = False
            try:
                async with aclosing(read_reply(connection, target, body, unread_seconds)) as events:
                    async for event in events:
                        has_begun = True
                        yield event
            except EndpointError as error:
                if has_begun:
                    raise
                seconds, code = _next_try(error, connection, target.model, body, retries), error.code
            else:
                return
            if seconds:
                yield Waiting(seconds, code)
                await patience.sleep(seconds)


def _next_try(
    error: EndpointError, connection: Connection, model: str, body: dict[str, Any], retries: Retries
) -> float:
    """Seconds until the next try. Raises the error where there is none."""
    if isinstance(error, EndpointRefused) and (option := refused_option(error, body)):
        connection.refused_options.add((model, option))
        return 0
    seconds = retries.wait_after(error)
    if seconds is None:
        raise error
    return seconds
