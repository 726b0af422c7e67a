"""Values that can't be right: each stops the start with a sentence that names it and shows no password."""

import pytest

from chatapp import checks
from chatapp.environment import Environment

FALLBACK = {"ENGINE": "fallback"}


def complaint(environment: Environment) -> str:
    (only,) = environment.complaints
    return f"{only.name} {only.problem}. {only.hint}"


@pytest.mark.parametrize("value", ["abc", "0", "65536", "-1", "80.5", "１２３４５６"])
def test_port_that_is_no_port_is_complained_of(value):
    environment = Environment({"PORT": value})
    assert environment.number("PORT", 8000, least=1, most=65535) == 8000
    assert "PORT is" in complaint(environment)


def test_switch_that_is_neither_yes_nor_no_is_complained_of():
    environment = Environment({"DEBUG": "perhaps"})
    assert environment.switch("DEBUG", default=False) is False
    assert "DEBUG is “perhaps”" in complaint(environment)


def test_choice_that_is_none_of_the_choices_is_complained_of():
    environment = Environment({"LOG_FORMAT": "xml", "LOG_LEVEL": "warning"})
    assert environment.one_of("LOG_FORMAT", ("console", "json")) == "console"
    assert "LOG_FORMAT is “xml”" in complaint(environment)
    assert environment.one_of("LOG_LEVEL", ("INFO", "WARNING")) == "WARNING"


def test_token_that_can_be_guessed_is_none_and_is_not_shown():
    environment = Environment({"METRICS_TOKEN": "hush"})
    assert environment.token("METRICS_TOKEN") == ""
    assert "METRICS_TOKEN" in complaint(environment)
    assert "hush" not in complaint(environment)


def test_networks_of_proxies_are_named_one_by_one():
    environment = Environment({"PROXIES": "10.0.0.2, 172.16.0.0/12,10.1.2.3/8,proxy"})
    assert [str(each) for each in environment.networks("PROXIES", "::1")] == ["10.0.0.2/32", "172.16.0.0/12"]
    assert [complaint.problem.split("”")[0] for complaint in environment.complaints] == [
        "holds “10.1.2.3/8",
        "holds “proxy",
    ]


@pytest.mark.parametrize(
    "url", ["mysql://u:hush@h/d", "postgresql://u:hush@h:port/d", "postgres://u:hush@[h/d", "hush"]
)
def test_database_url_that_cannot_be_used_is_named_and_not_shown(url):
    environment = Environment({"DATABASE_URL": url})
    assert environment.database("DATABASE_URL", FALLBACK) is FALLBACK
    assert complaint(environment).startswith("DATABASE_URL")
    assert "hush" not in complaint(environment)


def test_database_url_of_postgresql_is_read():
    environment = Environment({"DATABASE_URL": "postgresql://ann:hush@db.example:5433/chats"})
    database = environment.database("DATABASE_URL", FALLBACK)
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 5433, "chats")
    assert not environment.complaints


@pytest.mark.parametrize(
    "url", ["chat.example.org", "ftp://h", "https://", "https://h/path", "http://[h", "http://h:x"]
)
def test_public_url_that_is_no_origin_is_complained_of(url):
    environment = Environment({"PUBLIC_URL": url})
    assert environment.origin("PUBLIC_URL") == ""
    assert "PUBLIC_URL" in complaint(environment)


@pytest.mark.parametrize("url", ["https://chat.example.org", "http://localhost:8000", "http://[::1]:8000"])
def test_public_url_may_end_in_a_slash(url):
    environment = Environment({"PUBLIC_URL": f"{url}/"})
    assert environment.origin("PUBLIC_URL") == url
    assert not environment.complaints


def test_time_zone_without_such_a_name_is_complained_of():
    environment = Environment({"TZ": "Mars/Base"})
    assert environment.time_zone("TZ") == "UTC"
    assert "TZ is “Mars/Base”" in complaint(environment)


def test_data_folder_that_cannot_be_written_is_complained_of(tmp_path):
    (tmp_path / "file").write_text("in the way")
    environment = Environment({})
    assert environment.secret("SECRET_KEY", tmp_path / "file" / "secret")
    assert "FOLDLINE_DATA" in complaint(environment)


def test_secret_is_made_once_and_for_this_user_alone(tmp_path):
    path = tmp_path / "new" / "secret"
    first = Environment({}).secret("SECRET_KEY", path)
    assert Environment({}).secret("SECRET_KEY", path) == first
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("url", ["http://h", "hush", "redis://", "redis://:hush@h:port"])
def test_redis_url_that_cannot_be_used_is_named_and_not_shown(url):
    (error,) = checks.check_redis_url(url)
    assert error.id == "foldline.E002"
    assert "REDIS_URL" in error.msg
    assert "hush" not in error.msg


@pytest.mark.parametrize("url", ["", "redis://h", "rediss://:hush@h:6379/1", "unix:///run/valkey.sock"])
def test_redis_url_that_can_be_used_passes(url):
    assert checks.check_redis_url(url) == []


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://h/v1", "http://", "not an address"])
def test_endpoint_that_is_no_http_address_is_refused(url):
    (error,) = checks.check_endpoint(url, "", "")
    assert error.id == "foldline.E003"
    assert "OPENAI_BASE_URL" in error.msg


def test_model_without_an_endpoint_is_refused():
    (error,) = checks.check_endpoint("", "", "small")
    assert error.id == "foldline.E004"
    assert checks.check_endpoint("", "key", "small") == []


def test_local_model_that_is_missing_or_no_gguf_is_refused(tmp_path):
    other = tmp_path / "model.gguf"
    other.write_bytes(b"PK\x03\x04")
    assert "No such file" in checks.check_local_model(str(tmp_path / "none.gguf"))[0].msg
    assert "no GGUF file" in checks.check_local_model(str(other))[0].msg


def test_local_model_that_is_a_gguf_passes(tmp_path):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF rest")
    assert checks.check_local_model(str(model)) == []
