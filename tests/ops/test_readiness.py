"""Live and ready are two questions, and who is about to end says so first."""

import json
import signal
import time
import urllib.error
import urllib.request

import pytest

from chatapp import readiness

FINE = {"database": "ok", "layer": "ok", "migrations": "ok", "process": "ok"}


@pytest.mark.parametrize("broken", ["database", "migrations", "process"])
def test_not_ready_when_requests_would_fail(broken):
    assert readiness.is_ready(FINE)
    assert not readiness.is_ready(FINE | {broken: "does not answer"})


def test_ready_without_the_layer_since_pages_then_ask():
    assert readiness.is_ready(FINE | {"layer": "can't be reached"})


@pytest.mark.django_db
def test_liveness_asks_no_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz/").status_code == 200


@pytest.mark.django_db
def test_readiness_reads_migrations_once_and_asks_once_a_second(django_assert_num_queries, monkeypatch):
    here = readiness.Readiness()
    assert here.look() == FINE
    with django_assert_num_queries(0):
        here.look()
    monkeypatch.setattr(readiness, "SECONDS_REMEMBERED", 0)
    with django_assert_num_queries(1):
        assert here.look() == FINE


@pytest.mark.django_db
def test_readiness_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(readiness, "missing_migrations", lambda: "2 not applied")
    here = readiness.Readiness()
    assert here.look()["migrations"] == "2 not applied"
    assert not readiness.is_ready(here.look())


def ask(url: str) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


@pytest.mark.server
def test_stopping_process_is_first_not_ready_and_still_answers(start_server):
    server = start_server(OPENAI_BASE_URL="http://127.0.0.1:9/v1", DRAIN_SECONDS="8")
    server.process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 7
    while (answer := ask(f"{server.url}/readyz/"))[0] == 200:
        assert time.monotonic() < end
    assert answer[1]["checks"]["process"] == "ending"
    assert ask(f"{server.url}/healthz/") == (200, {"status": "ok"})
    assert urllib.request.urlopen(f"{server.url}/accounts/login/").status == 200
    assert server.process.wait(20) == 0
