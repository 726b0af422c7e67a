"""The doctor tells what is in order from what isn't, and shows no secret."""

import json
import shutil
import subprocess
import sys
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.signing import TimestampSigner
from django.test import override_settings
from django.utils import timezone

from chatapp import hello
from chatapp.backups.layout import note_backup
from chatapp.doctor import Level, database, examining, layer, machine, network
from tests.live import ROOT, bare_environment, free_port
from tests.over_http import ADMINISTRATOR
from tests.proxy import proxy
from tests.scripted import ScriptedEndpoint

KEY = "sk-canary-0123456789"


def levels(findings) -> list[Level]:
    return [finding.level for finding in findings]


@pytest.mark.django_db
def test_sound_database_is_fine():
    assert set(levels(database.examine())) == {Level.OK}


@pytest.mark.django_db
def test_missing_migrations_are_broken(monkeypatch):
    monkeypatch.setattr(database, "missing_migrations", lambda: "2 not applied")
    assert list(database.examine())[-1].remedy == "Run manage.py prepare."


def test_layer_that_is_away_is_broken():
    absent = {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": ["redis://127.0.0.1:9/0"]},
    }
    with override_settings(REDIS_URL="redis://127.0.0.1:9/0", CHANNEL_LAYERS={"default": absent}):
        assert levels(layer.examine()) == [Level.BROKEN]


@pytest.mark.parametrize("secret", ["short", "a" * 60])
def test_secret_that_can_be_guessed_is_broken(secret):
    with override_settings(SECRET_KEY=secret):
        (finding, *_) = machine.examine_secret()
    assert finding.level is Level.BROKEN
    assert secret not in finding.words + finding.remedy


@pytest.mark.parametrize(("free", "level"), [(10**8, Level.BROKEN), (10**9, Level.LOOK), (10**11, Level.OK)])
def test_disk_is_judged_by_what_is_free(settings, monkeypatch, tmp_path, free, level):
    settings.FOLDLINE_DATA = tmp_path
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert levels(machine.examine_disk())[0] is level


def test_data_folder_that_others_may_read_is_told(settings, tmp_path):
    settings.FOLDLINE_DATA = tmp_path
    tmp_path.chmod(0o755)
    assert f"chmod go= {tmp_path}" in {finding.remedy for finding in machine.examine_disk()}


@pytest.mark.parametrize(("days", "level"), [(None, Level.LOOK), (8, Level.LOOK), (1, Level.OK)])
def test_backups_are_judged_by_the_newest(settings, tmp_path, days, level):
    settings.FOLDLINE_DATA = tmp_path
    if days:
        note_backup(tmp_path / "backup.zip", timezone.now() - timedelta(days=days))
    assert levels(machine.examine_backups()) == [level]


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ({"PUBLIC_URL": "https://h", "IS_HTTPS": True}, Level.OK),
        ({"PUBLIC_URL": "http://h"}, Level.LOOK),
        ({"HOST": "0.0.0.0"}, Level.LOOK),
        ({"DEBUG": True}, Level.BROKEN),
        ({"ALLOWED_HOSTS": ["*"]}, Level.BROKEN),
    ],
)
def test_settings_that_do_not_go_together_are_told(values, level):
    with override_settings(**values):
        assert level in levels(network.examine_settings())


@pytest.mark.parametrize(
    ("status", "headers", "remedy"),
    [
        (502, {}, "see its log"),
        (301, {"Location": "https://h/accounts/login/"}, "X-Forwarded-Proto"),
        (301, {"Location": "https://h/accounts/login/"}, "TRUSTED_PROXIES"),
        (400, {}, "ALLOWED_HOSTS"),
    ],
)
def test_page_through_the_proxy_tells_what_the_proxy_lacks(status, headers, remedy):
    finding = network._page("https://h", status, headers)
    assert finding.level is Level.BROKEN
    assert remedy in finding.remedy


def test_nothing_that_answers_is_a_finding(settings):
    settings.PUBLIC_URL = f"http://127.0.0.1:{free_port()}"
    assert levels(network.examine_server()) == [Level.BROKEN]


def test_examination_that_fails_does_not_end_the_others(monkeypatch):
    def fail():
        raise ValueError("my secret diary")

    monkeypatch.setattr(examining, "ALL", (("one", fail), ("secret", machine.examine_secret)))
    first, *others = examining.examine()
    assert first.level is Level.BROKEN
    assert "diary" not in first.words
    assert others


@pytest.mark.parametrize("seal", [b"", b"forged:1abc:def", TimestampSigner(salt="another").sign("hello").encode()])
async def test_only_the_doctor_is_greeted(seal):
    passed_on = []

    async def application(scope, receive, send):
        passed_on.append(scope["path"])

    scope = {"path": hello.PATH, "headers": [(hello.HEADER.encode(), seal)]}
    await hello.greeting(application)(scope, None, None)
    assert passed_on == [hello.PATH]


def doctor(data, **environment: str) -> tuple[int, dict[str, list[str]], str]:
    """Exit code, levels by subject, and all that it said."""
    told = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"],
        cwd=ROOT,
        env=bare_environment(FOLDLINE_DATA=str(data), **environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found: dict[str, list[str]] = {}
    for finding in json.loads(told.stdout):
        found.setdefault(finding["subject"], []).append(finding["level"])
    return told.returncode, found, told.stdout + told.stderr


@pytest.mark.parametrize(
    ("greeting", "level", "words"),
    [
        (hello.Greeting(101, "172.18.0.5", not_believed="203.0.113.40"), Level.BROKEN, "name 172.18.0.5 in"),
        (hello.Greeting(101, hello.FORGED_ADDRESS), Level.BROKEN, "over what a client sends"),
        (hello.Greeting(101, "203.0.113.40"), Level.OK, ""),
        (hello.Greeting(101, "203.0.113.40", not_believed=hello.FORGED_ADDRESS), Level.OK, ""),
    ],
)
def test_proxy_that_is_not_believed_or_believes_anybody_is_told(settings, greeting, level, words):
    settings.PUBLIC_URL = "https://h"
    (finding,) = network._proxy(greeting)
    assert finding.level is level
    assert words in finding.remedy


@pytest.mark.server
def test_proxy_that_is_not_named_is_told_by_its_address(start_server, tmp_path):
    public = free_port()
    environment = {"PUBLIC_URL": f"http://127.0.0.1:{public}", "TRUSTED_PROXIES": "192.0.2.1"}
    server = start_server(**environment)
    secret = (server.data / "secret").read_text()
    with proxy(public, [server.port], tmp_path / "proxy"), override_settings(SECRET_KEY=secret):
        seen = hello.say_hello(environment["PUBLIC_URL"], origin=environment["PUBLIC_URL"])
        around = hello.say_hello(server.url, origin=environment["PUBLIC_URL"])
    assert (seen.client, seen.not_believed) == ("127.0.0.1", "127.0.0.1")
    assert (around.client, around.not_believed) == ("127.0.0.1", hello.FORGED_ADDRESS)


@pytest.mark.server
def test_doctor_sees_a_sound_installation_through_its_proxy_and_what_goes_around_it(start_server, tmp_path):
    public = free_port()
    with ScriptedEndpoint.in_thread() as endpoint:
        environment = {
            "PUBLIC_URL": f"http://127.0.0.1:{public}",
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_MODEL": "scripted",
        }
        server = start_server(**environment, **ADMINISTRATOR)
        with proxy(public, [server.port], tmp_path / "proxy"):
            code, found, told = doctor(server.data, **environment)
    secret = (server.data / "secret").read_text()
    with override_settings(SECRET_KEY=secret):
        around = hello.say_hello(server.url, origin=environment["PUBLIC_URL"])
        from_elsewhere = hello.say_hello(server.url, origin="http://elsewhere.invalid")
    assert code == 0, told
    assert found["socket"] == found["proxy"] == found["server"] == ["ok"]
    assert found["endpoint From the environment"] == ["ok"]
    assert KEY not in told
    assert secret not in told
    assert around.client == hello.FORGED_ADDRESS  # the proxy is what keeps a client from saying so
    assert from_elsewhere.status == 403

    code, found, _ = doctor(server.data, **environment)  # the proxy is gone, and the endpoint
    assert code == 1
    assert "broken" in found["server"]
    assert found["endpoint From the environment"] == ["broken"]
