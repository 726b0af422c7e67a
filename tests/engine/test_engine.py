"""The real engine: it answers, tells its window, refuses what is too long, and neither dies nor lives on alone."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import psutil
import pytest
from django.test import override_settings

from chatapp import engine as demo
from chatapp.engine import child
from tests.conftest import ENGINE_CONTEXT
from tests.engine.test_supervisor import wait_for
from tests.live import ROOT, bare_environment

pytestmark = pytest.mark.engine

# A web process that starts an engine, says which and waits; it is killed.
PARENT = """
import sys, time
from pathlib import Path
import django; django.setup()
from chatapp import engine
running = engine.start_if_wanted()
running.wait_ready(30)
print(running.pid, flush=True)
time.sleep(60)
"""


def post(base_url: str, messages: list[dict[str, str]]) -> dict:
    body = json.dumps({"messages": messages, "max_tokens": 8}).encode()
    request = urllib.request.Request(f"{base_url}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def refusal(ask, *arguments) -> tuple[int, dict]:
    """Status and body of an answer that is an error."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(*arguments)
    with refused.value as answer:
        return answer.code, json.load(answer)


def get(address: str) -> dict:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return json.load(answer)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE  # one that its init hasn't reaped yet is dead
    except psutil.NoSuchProcess:
        return False


def test_engine_has_as_many_threads_as_cores_that_it_may_use():
    usable = os.sched_getaffinity(0)
    asked = argparse.Namespace(model="m", name="m", context=512, slots=2, tame=False)
    os.sched_setaffinity(0, {min(usable)})
    try:
        params = child.parameters(asked)
    finally:
        os.sched_setaffinity(0, usable)
    assert (params.cpuparams.n_threads, params.cpuparams_batch.n_threads) == (1, 1)


def test_engine_answers_a_message(engine):
    reply = post(engine.base_url(), [{"role": "user", "content": "Say hello."}])
    assert reply["choices"][0]["message"]["content"]
    assert reply["usage"]["completion_tokens"] <= 8


def test_engine_is_healthy(engine):
    assert get(engine.base_url().removesuffix("/v1") + "/health") == {"status": "ok"}


def test_engine_tells_the_whole_window_for_each_chat(engine):
    (model,) = get(f"{engine.base_url()}/models")["data"]
    assert model["id"] == "SmolLM2-135M-Instruct"
    assert model["meta"]["n_ctx"] == ENGINE_CONTEXT


def test_engine_refuses_a_request_over_the_window_and_tells_the_window(engine):
    status, body = refusal(post, engine.base_url(), [{"role": "user", "content": "word " * 3000}])
    assert status == 400
    assert body["error"]["n_ctx"] == ENGINE_CONTEXT


def test_engine_reuses_the_prompt_of_the_former_request(engine):
    first = [{"role": "user", "content": "Tell me about tides, please. " * 20}]
    post(engine.base_url(), first)
    second = [*first, {"role": "assistant", "content": "Well."}, {"role": "user", "content": "Go on."}]
    usage = post(engine.base_url(), second)["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] > 100


def test_engine_shows_nobody_the_text_of_its_chats(engine):
    post(engine.base_url(), [{"role": "user", "content": "The word is xylophone."}])
    assert refusal(get, engine.base_url().removesuffix("/v1") + "/slots")[0] == 501


def test_engine_is_ready_in_five_seconds_and_logs_no_text(tmp_path):
    with override_settings(LOCAL_MODEL_CONTEXT=512, FOLDLINE_DATA=tmp_path):
        engine = demo.make_engine()
    began = time.monotonic()
    engine.start()
    assert engine.wait_ready(30)
    assert time.monotonic() - began < 5
    post(engine.base_url(), [{"role": "user", "content": "The word is xylophone."}])
    engine.stop()
    assert "xylophone" not in (tmp_path / "engine.log").read_text()


def test_engine_that_is_killed_is_started_again_and_has_no_address_meanwhile(tmp_path):
    with override_settings(LOCAL_MODEL_CONTEXT=512, FOLDLINE_DATA=tmp_path):
        engine = demo.make_engine()
    engine.start()
    assert engine.wait_ready(30)
    first = engine.pid
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: engine.base_url() is None)
    assert engine.wait_ready(30)
    assert engine.pid != first
    assert post(engine.base_url(), [{"role": "user", "content": "Hello?"}])["choices"]
    engine.stop()


def test_engine_ends_when_its_parent_is_killed(tmp_path):
    environment = bare_environment(DJANGO_SETTINGS_MODULE="chatapp.settings", FOLDLINE_DATA=str(tmp_path))
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, cwd=ROOT, env=environment)
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not is_alive(pid))
