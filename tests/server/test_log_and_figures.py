"""What a real server writes into its log, and tells Prometheus, through turns that go well and that don't."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest

from tests.live import LiveServer
from tests.over_http import ADMINISTRATOR, Caller
from tests.people import PASSWORD
from tests.scripted import ScriptedEndpoint, cut, head, json_error, reply, text

pytestmark = pytest.mark.server

TOKEN = "figures-for-prometheus"
WORDS = "marmalade"  # in every text that a person or the endpoint says
KEY = "sk-canary-0123456789"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint.in_thread() as scripted:
        yield scripted


@pytest.fixture
def server(endpoint: ScriptedEndpoint, start_server: Callable[..., LiveServer]) -> LiveServer:
    return start_server(
        OPENAI_BASE_URL=endpoint.base_url,
        OPENAI_API_KEY=KEY,
        OPENAI_MODEL="scripted",
        LOG_FORMAT="json",
        METRICS_TOKEN=TOKEN,
        **ADMINISTRATOR,
    )


def figures(server: LiveServer, token: str = TOKEN) -> str:
    request = urllib.request.Request(f"{server.url}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        told: str = answer.read().decode()
        return told


def test_turns_that_go_well_and_not_are_told_by_ids_and_numbers(endpoint: ScriptedEndpoint, server: LiveServer) -> None:
    endpoint.will(
        reply(f"All of it, with {WORDS}.", usage=(12, 5)),
        reply(f"On {WORDS}"),  # the title
        json_error(400, f"The prompt “{WORDS}” is refused for {KEY}."),
        [head(), text(f"{WORDS} and then"), cut()],
    )
    ada = Caller(server.url)
    chat = ada.start(f"Tell me of {WORDS}")
    ada.until_status(chat, "complete")
    ada.send(chat, f"More {WORDS}")
    ada.until_status(chat, "failed")
    ada.send(chat, f"And again {WORDS}")
    ada.until_status(chat, "interrupted")
    ada.get(f"/search/?q={WORDS}")
    for path in ("/s/opens-a-door-0123456789/", f"/{WORDS}/"):
        with pytest.raises(urllib.error.HTTPError):
            ada.get(path)
    told = figures(server)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        figures(server, token="another-token-altogether")
    server.stop()

    log = server.output
    session = next(cookie.value or "" for cookie in ada.jar if cookie.name == "sessionid")
    for secret in (f"Tell me of {WORDS}", f"More {WORDS}", KEY, PASSWORD, TOKEN, session, "opens-a-door", "?q="):
        assert secret not in log, secret
    assert re.findall(rf".*{WORDS}.*", log) == re.findall(rf".*Not Found: /{WORDS}/.*", log)  # an address, not a text

    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    runs = [line for line in lines if line["event"] == "run"]
    assert [(run["outcome"], run["failure"]) for run in runs] == [
        ("complete", ""),
        ("failed", "bad_request"),
        ("interrupted", "cut_off"),
    ]
    sends = [line for line in lines if line.get("route") in {"chats/", "chats/<uuid:chat_id>/send/"}]
    assert [line["request"] for line in sends] == [run["request"] for run in runs]
    assert all(isinstance(run["person"], int) and run["chat"] in chat for run in runs)
    assert {line["chat"] for line in sends[1:]} == {runs[0]["chat"]}
    assert sends[0]["milliseconds"] >= 0

    for outcome in ("complete", "failed", "interrupted"):
        assert f'foldline_runs_total{{outcome="{outcome}"}} 1.0' in told
    assert 'foldline_endpoint_failures_total{code="bad_request"} 1.0' in told
    prompt_tokens = re.search(r'foldline_tokens_total{kind="reply",of="prompt"} ([0-9.]+)', told)
    assert prompt_tokens
    assert float(prompt_tokens[1]) > 12  # the second reply's are estimated
    assert "foldline_first_token_seconds_count 2.0" in told
    assert 'foldline_http_requests_total{method="GET",route="search/",status="200"} 1.0' in told
    assert "foldline_live_runs 0.0" in told
    assert "process_resident_memory_bytes" in told
    assert "foldline_loop_lag_seconds_bucket" in told
    assert WORDS not in told
    assert runs[0]["chat"] not in told
