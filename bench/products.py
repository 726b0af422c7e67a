"""Foldline and what people would use instead, each over the same endpoint: how it is started, and where one writes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench import machine
from bench.driving import Product, Running
from bench.endpoint import endpoint
from bench.peers import PACKAGES, programs, started_again, wait_for_page
from bench.site import talking_site
from tests.live import ROOT, free_port

WINDOW = 128_000
# Nothing but chats: no titles, no tags, no embeddings, nothing asked of anybody outside.
OPEN_WEBUI = {
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "bench",
    "OPENAI_API_KEY": "none",
    "DEFAULT_MODELS": "scripted",
    "OFFLINE_MODE": "True",
    "HF_HUB_OFFLINE": "1",
    "RAG_EMBEDDING_ENGINE": "openai",
    "DO_NOT_TRACK": "true",
    "ANONYMIZED_TELEMETRY": "false",
    "SCARF_NO_ANALYTICS": "true",
    "ENABLE_OLLAMA_API": "False",
    "ENABLE_TITLE_GENERATION": "False",
    "ENABLE_TAGS_GENERATION": "False",
    "ENABLE_FOLLOW_UP_GENERATION": "False",
    "ENABLE_AUTOCOMPLETE_GENERATION": "False",
    "ENABLE_VERSION_UPDATE_CHECK": "False",
}


@contextmanager
def serve_foldline(base_url: str) -> Iterator[Running]:
    with talking_site({}, window=WINDOW, base_url=base_url) as site:
        site.server.stop()
        began = time.perf_counter()
        site.server.start()
        assert site.server.process
        wait_for_page(site.server.url, site.server.process)
        yield Running(site.server.url, site.pid, time.perf_counter() - began, {"sessionid": site.session})


@contextmanager
def serve_llama(base_url: str) -> Iterator[Running]:  # noqa: ARG001 (its page can ask nobody but its own server)
    """The page asks where it came from, so an endpoint of this bench hands out a copy of it and answers itself."""
    port = free_port()
    command = [sys.executable, "-m", "bench.llama_page", str(port)]
    environment = {"DJANGO_SETTINGS_MODULE": "chatapp.settings"}
    with (
        started_again(command, environment, f"http://127.0.0.1:{port}/", data="FOLDLINE_DATA") as own,
        endpoint(page_of=own.url) as copied,
    ):
        yield Running(copied.removesuffix("v1"), own.pid, own.start_seconds)


@contextmanager
def serve_gradio(base_url: str) -> Iterator[Running]:
    """Raises NotInstalled."""
    port = free_port()
    command = [str(programs("gradio") / "python"), str(ROOT / "bench" / "gradio_chat.py"), base_url, str(port)]
    with started_again(command, {"GRADIO_ANALYTICS_ENABLED": "False"}, f"http://127.0.0.1:{port}/") as running:
        yield running


@contextmanager
def serve_open_webui(base_url: str) -> Iterator[Running]:
    """Raises NotInstalled."""
    port = free_port()
    command = [str(programs("open-webui") / "open-webui"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**OPEN_WEBUI, "OPENAI_API_BASE_URL": base_url}
    with started_again(command, environment, f"http://127.0.0.1:{port}/", data="DATA_DIR") as running:
        yield running


FOLDLINE = Product("Foldline", "this checkout", "#text", serve_foldline)
PEERS = (
    Product(
        "llama.cpp's page", f"xllamacpp=={machine.version('xllamacpp')}", "form textarea", serve_llama, computes=True
    ),
    Product("gradio", PACKAGES["gradio"][-1].split()[0], "textarea", serve_gradio),
    Product("Open WebUI", PACKAGES["open-webui"][-1], "#chat-input", serve_open_webui, dismiss="Okay, Let's Go!"),
)
