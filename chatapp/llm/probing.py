"""What an endpoint says of itself: its models and their context windows (rule A1)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from chatapp.llm.calling import as_endpoint_errors
from chatapp.llm.clients import Connection, connection_to
from chatapp.llm.errors import EndpointError, EndpointUnreachable, NotAStream
from chatapp.llm.target import Target, normal_base_url, server_root
from chatapp.llm.wording import one_line, parsed

PROBE_SECONDS = 10
LONGEST_LISTING_BYTES = 16_000_000
MOST_MODELS = 2_000
OLLAMA = "http://127.0.0.1:11434"
LARGEST_WINDOW = 100_000_000

# What a server can hold, not what the model was trained for: meta.n_ctx_train and Ollama's model_info are not windows.
WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """`window` in tokens, 0 where the endpoint doesn't tell."""

    name: str
    window: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """`base_url` is the address that answered, `/v1` added where missing; `code`, `detail` as in errors.py."""

    ok: bool
    models: tuple[ModelInfo, ...] = ()
    code: str = ""
    detail: str = ""
    base_url: str = ""


async def probe(target: Target, *, seconds: float = PROBE_SECONDS) -> Probe:
    """Asks for the models; never raises EndpointError. Of the target, address, key and destinations are used."""
    first = normal_base_url(target.base_url) if "://" in target.base_url else target.base_url
    outcome = Probe(ok=False)
    for base_url in (first,) if first.endswith("/v1") else (first, first + "/v1"):
        try:
            async with asyncio.timeout(seconds):
                return Probe(ok=True, models=await _models(replace(target, base_url=base_url)), base_url=base_url)
        except TimeoutError:
            failed = Probe(ok=False, code="unreachable", detail=f"No answer within {seconds:g} seconds.")
        except EndpointError as error:
            failed = Probe(ok=False, code=error.code, detail=error.detail)
        outcome = outcome if outcome.code else failed
        if failed.code not in {"no_such_model", "not_a_stream"}:  # only a wrong path is worth another one
            break
    return outcome


async def find_ollama(address: str = OLLAMA, *, seconds: float = 0.5) -> str | None:
    """The base URL of an Ollama on this machine, to be offered; None where none answers in time."""
    found = await probe(Target(address, "", ""), seconds=seconds)
    return found.base_url if found.ok else None


async def _models(target: Target) -> tuple[ModelInfo, ...]:
    key = target.api_key
    async with connection_to(target) as connection:
        listing = await _get_json(connection, "/models", key)
        entries = listing.get("data") or listing.get("models") if isinstance(listing, dict) else listing
        if not isinstance(entries, list):
            raise NotAStream("application/json", "The answer to /models holds no list of models.")
        named = [entry for entry in entries[:MOST_MODELS] if isinstance(entry, dict) and isinstance(_name(entry), str)]
        models = tuple(ModelInfo(_name(entry), window_of(entry)) for entry in named)
        if len(models) == 1 and not models[0].window:
            models = (replace(models[0], window=await _window_from_props(connection, target.base_url, key)),)
    return models


async def _window_from_props(connection: Connection, base_url: str, key: str) -> int:
    """llama.cpp's own page; its n_ctx there is that of one slot, which is what a chat has."""
    try:
        props = await _get_json(connection, server_root(base_url) + "/props", key)
    except EndpointError:
        return 0
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    return _count(settings.get("n_ctx")) if isinstance(settings, dict) else 0


async def _get_json(connection: Connection, path: str, key: str) -> Any:
    body = bytearray()
    with as_endpoint_errors(key):
        response = await connection.client.get(path, cast_to=httpx2.Response, stream=True, stream_cls=None)
        assert isinstance(response, httpx2.Response)
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LONGEST_LISTING_BYTES:
                    raise EndpointUnreachable("The list of models did not end.")
        finally:
            await response.aclose()
    answer = parsed(body.decode("utf-8", "replace"))
    if not isinstance(answer, (dict, list)):
        raise NotAStream(one_line(response.headers.get("content-type", "no content type"), key))
    return answer


def _name(entry: dict[str, Any]) -> Any:
    return entry.get("id") or entry.get("name")


def window_of(entry: dict[str, Any]) -> int:
    """Tokens of the context window out of one entry of /v1/models; 0 where it tells none. The smallest told counts."""
    meta, provider = entry.get("meta"), entry.get("top_provider")
    told = [_count(entry.get(name)) for name in WINDOW_FIELDS]
    told.append(_count(meta.get("n_ctx")) if isinstance(meta, dict) else 0)
    told.append(_count(provider.get("context_length")) if isinstance(provider, dict) else 0)
    return min(filter(None, told), default=0)


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    is_count = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LARGEST_WINDOW
    return int(value) if is_count else 0
