"""Asking an endpoint: each outcome is a sentence, and windows are learned (rule A1)."""

from __future__ import annotations

import pytest

from chatapp.admin.connecting import PICKER_LIMIT, answer_of, look_into
from chatapp.llm import ModelInfo, Probe, Target
from chatapp.models import Endpoint, LanguageModel
from tests.admin.making import make_endpoint, make_model

pytestmark = pytest.mark.django_db


class Answering:
    """Stands for llm.probe: answers the same every time and remembers what it was asked."""

    def __init__(self, answer: Probe) -> None:
        self.answer = answer
        self.targets: list[Target] = []

    async def __call__(self, target: Target) -> Probe:
        self.targets.append(target)
        return self.answer


def offering(*models: ModelInfo, base_url: str = "") -> Answering:
    return Answering(Probe(ok=True, models=models, base_url=base_url))


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("unreachable", "Nobody answers at that address."),
        ("wrong_key", "refuses the key"),
        ("forbidden", "doesn’t let it list models"),
        ("no_such_model", "Most base URLs end in /v1"),
        ("not_a_stream", "isn’t an OpenAI-compatible API"),
        ("garbled", "isn’t an OpenAI-compatible API"),
        ("busy", "is busy"),
        ("server_error", "an error of its own"),
        ("bad_request", "refuses to list its models"),
        ("stalled", "didn’t answer to the end"),
        ("something_new", "refuses to list its models"),
    ],
)
def test_failure_is_told_in_a_sentence_with_the_endpoints_words(code: str, sentence: str) -> None:
    endpoint = make_endpoint()

    finding = look_into(endpoint, ask=Answering(Probe(ok=False, code=code, detail="its <words>")), add_models=True)

    endpoint.refresh_from_db()
    assert sentence in finding.sentence
    assert finding.sentence.endswith("It says: its <words>")
    assert answer_of(endpoint) == finding.sentence
    assert endpoint.checked_at


def test_key_and_address_go_to_the_endpoint_and_nowhere_else() -> None:
    ask = offering()

    finding = look_into(make_endpoint(key="sk-secret"), ask=ask, add_models=True)

    assert (ask.targets[0].base_url, ask.targets[0].api_key) == ("http://box.example/v1", "sk-secret")
    assert "sk-secret" not in finding.sentence


def test_fetching_adds_models_with_their_windows() -> None:
    finding = look_into(make_endpoint(), ask=offering(ModelInfo("a", 8192), ModelInfo("b")), add_models=True)

    assert list(LanguageModel.objects.order_by("name").values_list("name", "window_reported", "enabled")) == [
        ("a", 8192, True),
        ("b", 0, True),
    ]
    assert finding.sentence == (
        "Connected: 2 models offered, 2 of them new here. Context windows: a 8,192 tokens. "
        "No context window is told for b: until you enter it, those chats aren’t folded by themselves."
    )


def test_testing_learns_windows_but_adds_nothing() -> None:
    model = make_model(name="a", window_set=100)

    finding = look_into(model.endpoint, ask=offering(ModelInfo("a", 8192), ModelInfo("b", 4096)), add_models=False)

    model.refresh_from_db()
    assert (model.window_reported, model.window_tokens) == (8192, 100)
    assert LanguageModel.objects.count() == 1
    assert finding.sentence.startswith("Connected: 2 models offered. ")


def test_window_that_is_no_longer_told_is_kept() -> None:
    model = make_model(name="a", window_reported=8192)

    look_into(model.endpoint, ask=offering(ModelInfo("a")), add_models=True)

    model.refresh_from_db()
    assert model.window_reported == 8192


def test_model_that_vanished_is_kept_and_named() -> None:
    gone = make_model(name="gone")

    finding = look_into(gone.endpoint, ask=offering(ModelInfo("a", 10)), add_models=True)

    assert finding.sentence.endswith("No longer offered there, kept here: gone.")
    assert LanguageModel.objects.filter(name="gone", enabled=True).exists()


def test_many_models_come_in_switched_off() -> None:
    models = [ModelInfo(f"m{number}") for number in range(PICKER_LIMIT + 1)]

    finding = look_into(make_endpoint(), ask=offering(*models), add_models=True)

    assert not LanguageModel.objects.filter(enabled=True).exists()
    assert "the new ones are switched off" in finding.sentence


def test_names_that_cannot_be_stored_are_passed_over() -> None:
    look_into(make_endpoint(), ask=offering(ModelInfo("x" * 201), ModelInfo("a\x00"), ModelInfo("ok")), add_models=True)

    assert [model.name for model in LanguageModel.objects.all()] == ["ok"]


def test_no_model_at_all_is_said() -> None:
    assert "no model is offered there" in look_into(make_endpoint(), ask=offering(), add_models=True).sentence


def test_address_that_answered_is_stored() -> None:
    endpoint = make_endpoint(base_url="http://box.example/api")

    look_into(endpoint, ask=offering(base_url="http://box.example/api/v1"), add_models=False)

    endpoint.refresh_from_db()
    assert endpoint.base_url == "http://box.example/api/v1"


def test_key_under_another_secret_is_said_and_nobody_is_asked() -> None:
    endpoint = make_endpoint()
    endpoint.sealed_key = "gAAAAAB-not-ours"
    ask = offering()

    finding = look_into(endpoint, ask=ask, add_models=True)

    assert "Enter the key again" in finding.sentence
    assert not ask.targets


def test_demo_engine_that_is_not_running_is_said() -> None:
    endpoint = make_endpoint(kind=Endpoint.Kind.DEMO, base_url="")

    assert "demo engine isn’t running" in look_into(endpoint, ask=offering(), add_models=True).sentence
