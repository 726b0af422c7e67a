"""The endpoint that the environment asks for, as a row: made, updated, switched off, and left as an admin left it."""

import pytest
from django.test import override_settings

from chatapp.endpoints import sync_from_environment
from chatapp.models import Endpoint, LanguageModel, SiteSettings

pytestmark = pytest.mark.django_db

DEMO = Endpoint.Kind.DEMO
ENVIRONMENT = Endpoint.Kind.ENVIRONMENT


def sync(**environment: str) -> Endpoint | None:
    names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")
    with override_settings(**{name: environment.get(name, "") for name in names}, LOCAL_MODEL_CONTEXT=2048):
        return sync_from_environment()


def test_demo_endpoint_has_its_model_and_window_at_once():
    endpoint = sync()
    (model,) = LanguageModel.objects.usable()
    assert endpoint.kind == DEMO
    assert (model.name, model.window_tokens) == ("SmolLM2-135M-Instruct", 2048)


def test_sync_twice_changes_nothing():
    assert sync() == sync()
    assert LanguageModel.objects.count() == 1


def test_endpoint_of_the_environment_takes_the_demo_ones_place():
    sync()
    endpoint = sync(OPENAI_BASE_URL="http://box:8080", OPENAI_API_KEY="k", OPENAI_MODEL="big")
    (model,) = LanguageModel.objects.usable()
    assert (endpoint.base_url, endpoint.reveal_key(), model.name) == ("http://box:8080/v1", "k", "big")
    assert SiteSettings.get_solo().default_model == model


def test_key_alone_means_openai():
    assert sync(OPENAI_API_KEY="k").base_url == "https://api.openai.com/v1"


def test_demo_endpoint_comes_back_when_the_environment_is_empty_again():
    sync()
    sync(OPENAI_BASE_URL="http://box/v1")
    assert sync().enabled
    assert not Endpoint.objects.get(kind=ENVIRONMENT).enabled


def test_demo_endpoint_that_was_switched_off_by_hand_stays_off():
    sync()
    Endpoint.objects.update(enabled=False)
    assert not sync().enabled


def test_models_of_another_server_are_forgotten():
    sync(OPENAI_BASE_URL="http://old/v1", OPENAI_MODEL="old")
    sync(OPENAI_BASE_URL="http://new/v1", OPENAI_MODEL="new")
    assert [model.name for model in LanguageModel.objects.all()] == ["new"]


def test_default_model_chosen_in_the_admin_is_kept():
    own = LanguageModel.objects.create(
        endpoint=Endpoint.objects.create(name="Own", base_url="http://own/v1"), name="own"
    )
    SiteSettings.objects.update_or_create(pk=SiteSettings.singleton_instance_id, defaults={"default_model": own})
    sync(OPENAI_BASE_URL="http://box/v1", OPENAI_MODEL="big")
    assert SiteSettings.get_solo().default_model == own


def test_name_that_is_taken_in_the_admin_is_left_alone():
    Endpoint.objects.create(name="Demo engine", base_url="http://own/v1")
    assert sync().name == "Demo engine 2"
