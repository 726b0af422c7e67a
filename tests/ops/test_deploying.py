"""What deploy/, compose.yaml and the Dockerfile say holds for this code: names, sizes, times. No Docker is run."""

import re
import shutil
import subprocess
from ipaddress import ip_address

import pytest
import yaml
from django.conf import settings

from chatapp.environment import Environment
from chatapp.files.limits import MOST_BYTES
from chatapp.management.commands.serve import GOODBYE_SECONDS
from tests.live import ROOT

UNITS = sorted((ROOT / "deploy/systemd").iterdir())
SETTINGS = (ROOT / "chatapp/settings.py").read_text() + (ROOT / "chatapp/accounts.py").read_text()
# Read by Python itself, and put together from parts in accounts.py.
OTHERS = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PATH"} | {
    f"DJANGO_SUPERUSER_{part}" for part in ("USERNAME", "EMAIL", "PASSWORD")
}
MEBIBYTE = 1024 * 1024
CADDY = shutil.which("caddy")
SYSTEMD = shutil.which("systemd-analyze")


def known_names() -> set[str]:
    return set(re.findall(r'"([A-Z][A-Z_]{1,})"', SETTINGS)) | OTHERS


def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_every_variable_is_in_the_handbook():
    read = set(re.findall(r'ENVIRONMENT\.\w+\(\s*"(\w+)"', SETTINGS))
    assert read
    told = (ROOT / "README.md").read_text() + (ROOT / "docs/operating.md").read_text()
    assert {name for name in read if f"`{name}`" not in told} == set()


def test_preparing_anew_restarts_no_web_process():
    """What Requires a unit is restarted with it, all at once; an upgrade is to be one process after the other."""
    unit = (ROOT / "deploy/systemd/foldline-web@.service").read_text()
    assert re.search(r"^Wants=.*foldline-prepare\.service", unit, re.MULTILINE)
    assert not re.search(r"^(Requires|BindsTo|PartOf)=", unit, re.MULTILINE)


@pytest.mark.parametrize("service", ["web-a", "web-b", "prepare"])
def test_compose_sets_what_foldline_reads(service):
    assert set(compose()["services"][service]["environment"]) <= known_names()


def test_compose_trusts_its_proxy_and_publishes_no_port_past_it():
    services = compose()["services"]
    named = re.search(r":-(.*)}", services["web-a"]["environment"]["TRUSTED_PROXIES"])
    networks = Environment({}).networks("TRUSTED_PROXIES", named[1])
    assert any(ip_address("172.18.0.5") in network for network in networks)
    assert {name for name, service in services.items() if service.get("ports")} == {"proxy"}


def test_compose_speaks_of_services_and_volumes_that_are_there():
    told = compose()
    for service in told["services"].values():
        assert set(service.get("depends_on", ())) <= told["services"].keys()
        named = {volume.split(":")[0] for volume in service.get("volumes", ()) if not volume.startswith(".")}
        assert named <= told["volumes"].keys()
        for volume in service.get("volumes", ()):
            assert not volume.startswith(".") or (ROOT / volume.split(":")[0]).is_file()
    for web in ("web-a", "web-b"):
        assert f"{web}:8000" in told["services"]["proxy"]["environment"]["UPSTREAMS"]


def test_processes_are_given_the_time_to_end():
    web = compose()["services"]["web-a"]
    assert seconds(web["stop_grace_period"]) >= int(web["environment"]["DRAIN_SECONDS"]) + GOODBYE_SECONDS + 5
    unit = (ROOT / "deploy/systemd/foldline-web@.service").read_text()
    stop, drain = re.search(r"TimeoutStopSec=(\d+)", unit), re.search(r"DRAIN_SECONDS=(\d+)", unit)
    assert int(stop[1]) >= int(drain[1]) + GOODBYE_SECONDS + 5


def test_drain_is_longer_than_the_proxy_takes_to_see_it():
    told = re.findall(r"health_(?:interval|timeout) (\d+)s", (ROOT / "deploy/Caddyfile").read_text())
    assert int(compose()["services"]["web-a"]["environment"]["DRAIN_SECONDS"]) > sum(map(int, told))


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_proxies_let_through_what_foldline_takes(name):
    """So that its own sentence is what a person reads: first where files are imported, then files, then the rest."""
    sizes = {int(size) for size in re.findall(r"size (\d+)(?:m;|MB)", (ROOT / "deploy" / name).read_text())}
    rest, files, imports = sorted(sizes)
    assert rest * MEBIBYTE > settings.BODY_LIMIT_BYTES
    assert files * MEBIBYTE > MOST_BYTES + settings.BODY_LIMIT_BYTES
    assert imports * MEBIBYTE > settings.IMPORT_FORM_LIMIT_BYTES + settings.BODY_LIMIT_BYTES


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda unit: unit.name)
def test_unit_is_hardened_and_sets_what_foldline_reads(unit):
    text = unit.read_text()
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "UMask=0077"):
        assert f"\n{line}\n" in text
    names = {word.partition("=")[0] for line in re.findall(r"(?m)^Environment=(.*)$", text) for word in line.split()}
    assert names <= known_names()


@pytest.mark.skipif(SYSTEMD is None, reason="no systemd-analyze here: the units are not verified")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_unit_is_one_that_systemd_takes(unit, tmp_path):
    for other in UNITS:  # the checkout isn't in /opt here
        (tmp_path / other.name).write_text(re.sub(r"(?m)^ExecStart=.*$", "ExecStart=/bin/true", other.read_text()))
    told = subprocess.run(
        [SYSTEMD, "verify", "--man=no", str(tmp_path / unit.name)], capture_output=True, text=True, check=False
    )
    assert [line for line in told.stderr.splitlines() if "foldline" in line] == []


@pytest.mark.skipif(CADDY is None, reason="no Caddy here: deploy/Caddyfile is not validated")
def test_caddy_takes_its_file(tmp_path):
    told = subprocess.run(
        [CADDY, "validate", "--adapter", "caddyfile", "--config", str(ROOT / "deploy/Caddyfile")],
        env={"PUBLIC_URL": "http://localhost", "UPSTREAMS": "web-a:8000 web-b:8000", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr


def test_image_copies_what_runs_and_asks_a_page_that_is_there():
    dockerfile = (ROOT / "Dockerfile").read_text()
    for copied in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", dockerfile):
        assert all((ROOT / path).exists() for path in copied.split()), copied
    needed = {"compaction", "chatapp", "templates", "locale", "static", "manage.py"}
    assert needed <= set(re.findall(r"(?m)^COPY (\S+) ", dockerfile))
    assert "/healthz/" in dockerfile
    assert (
        set(re.findall(r"(?<=[ \t])([A-Z_]+)=", " ".join(re.findall(r"(?m)^ENV (.*)$", dockerfile)))) <= known_names()
    )


def test_what_is_required_is_pinned_alike():
    """In CI nothing asks for advisories, which needs the network (`make audit`); that pins agree needs none."""

    def pins(name: str) -> dict[str, str]:
        lines = re.findall(r"(?m)^([\w.-]+)(?:\[.*\])?==(\S+)", (ROOT / name).read_text())
        return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in lines}

    constraints = pins("constraints.txt")
    assert len(constraints) == len((ROOT / "constraints.txt").read_text().splitlines()) - 1
    for requirements in ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt"):
        assert pins(requirements).items() <= constraints.items()
