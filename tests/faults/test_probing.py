"""What an endpoint says of itself: models and context windows (rule A1)."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.llm import ModelInfo, Target, find_ollama, probe
from chatapp.llm.probing import window_of
from chatapp.llm.target import normal_base_url, server_root
from tests.faults.calls import KEY, target_of
from tests.scripted import ScriptedEndpoint, document, hang, json_error, redirect


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"meta": {"n_ctx": 8192, "n_ctx_train": 32768}}, 8192),
        ({"meta": {"n_ctx_train": 32768}}, 0),
        ({"max_model_len": 4096}, 4096),
        ({"context_length": 131072, "top_provider": {"context_length": 65536}}, 65536),
        ({"context_window": "32768"}, 32768),
        ({"context_length": None, "top_provider": None, "meta": None}, 0),
        ({"context_length": True}, 0),
        ({"context_length": -5}, 0),
        ({}, 0),
    ],
)
def test_window_is_what_the_server_can_hold(entry: dict[str, Any], window: int) -> None:
    assert window_of(entry) == window


async def test_probe_lists_models_with_their_windows(endpoint: ScriptedEndpoint) -> None:
    endpoint.models = [{"id": "small", "max_model_len": 4096}, {"id": "unknown"}, {"nonsense": 1}, "nonsense"]  # type: ignore[list-item]
    outcome = await probe(target_of(endpoint))
    assert outcome.ok
    assert outcome.models == (ModelInfo("small", 4096), ModelInfo("unknown", 0))
    assert outcome.base_url == endpoint.base_url


async def test_probe_asks_props_for_the_window_of_the_only_model(endpoint: ScriptedEndpoint) -> None:
    endpoint.pages["/props"] = document({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4})
    assert (await probe(target_of(endpoint))).models == (ModelInfo("scripted", 2048),)


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/models", "/v1/chat/completions"])
async def test_probe_takes_an_address_as_people_paste_it(endpoint: ScriptedEndpoint, tail: str) -> None:
    outcome = await probe(Target(endpoint.address + tail, KEY, ""))
    assert (outcome.ok, outcome.base_url) == (True, endpoint.base_url)


async def test_probe_finds_v1_behind_a_path(endpoint: ScriptedEndpoint) -> None:
    endpoint.pages["/api/v1/models"] = document({"data": [{"id": "m"}]})
    outcome = await probe(Target(endpoint.address + "/api", KEY, ""))
    assert (outcome.ok, outcome.base_url) == (True, endpoint.address + "/api/v1")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (json_error(401, f"Bad key {KEY}"), "wrong_key"),
        (json_error(500, "oops"), "server_error"),
        (document("<html>Welcome</html>", content_type="text/html"), "not_a_stream"),
        (document({"data": "nonsense"}), "not_a_stream"),
        (redirect("https://elsewhere.example/v1/models"), "bad_request"),
        ([hang()], "unreachable"),
    ],
)
async def test_probe_that_fails_says_why(endpoint: ScriptedEndpoint, script: Any, code: str) -> None:
    endpoint.pages["/v1/models"] = script
    outcome = await probe(target_of(endpoint), seconds=0.5)
    assert (outcome.ok, outcome.code) == (False, code)
    assert KEY not in outcome.detail


async def test_probe_of_nothing_is_unreachable() -> None:
    async with ScriptedEndpoint() as gone:
        pass
    assert (await probe(target_of(gone))).code == "unreachable"
    assert (await probe(Target("nonsense", "", ""))).code == "unreachable"


async def test_ollama_is_found_where_it_answers_in_time(endpoint: ScriptedEndpoint) -> None:
    assert await find_ollama(endpoint.address) == endpoint.base_url
    endpoint.pages["/v1/models"] = [hang()]
    assert await find_ollama(endpoint.address, seconds=0.05) is None


@pytest.mark.parametrize(
    ("address", "base_url", "root"),
    [
        ("http://host:11434", "http://host:11434/v1", "http://host:11434"),
        (" https://api.example/v1/ ", "https://api.example/v1", "https://api.example"),
        (
            "https://api.example/openai/v1/chat/completions",
            "https://api.example/openai/v1",
            "https://api.example/openai",
        ),
        ("https://api.example/api/v3", "https://api.example/api/v3", "https://api.example/api/v3"),
        ("https://api.example/v1?version=2", "https://api.example/v1?version=2", "https://api.example"),
    ],
)
def test_base_url_is_made_normal(address: str, base_url: str, root: str) -> None:
    assert normal_base_url(address) == base_url
    assert server_root(address) == root
