"""Programs of other people: installed into environments of their own under build/bench/peers, started, and ended."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import psutil

from bench.driving import Running
from bench.results import FOLDER
from bench.size import QUICK
from tests.live import ROOT, bare_environment

PEERS = FOLDER / "peers"
INSTALL_SECONDS, START_SECONDS = 900, 180
# What each is made of, one installation after the other. torch is named, as a range of it may take several GB more.
PACKAGES = {
    "gradio": (f"gradio==6.31.0 openai=={metadata.version('openai')}",),
    "open-webui": ("torch==2.13.0", "open-webui==0.12.4"),
}


class NotInstalled(Exception):
    """Says why."""


def programs(name: str) -> Path:
    """The folder of its programs; installs it first where it isn't there yet. Raises NotInstalled."""
    packages = PACKAGES[name]
    folder = PEERS / re.sub(r"[^\w.-]+", "_", packages[-1])
    if not (folder / "whole").exists():
        if QUICK:
            raise NotInstalled("not installed yet: `make bench` without QUICK does it")
        print(f"  installing {name} into {folder.relative_to(ROOT)} ...", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        _install([sys.executable, "-m", "venv", str(folder)])
        for each in packages:
            _install([str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", "--no-input", *each.split()])
        (folder / "whole").touch()
    return folder / "bin"


def _install(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"not installed within {INSTALL_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no word"]
        raise NotInstalled(f"could not be installed: {lines[-1]}") from None


@contextmanager
def started_again(
    command: Sequence[str], environment: Mapping[str, str], url: str, *, data: str = "HOME"
) -> Iterator[Running]:
    """For the second time on a new data folder, which `data` names to it: the first time makes what is made only once.

    `url` is its first page; `start_seconds` are those until it was answered in full.
    """
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        own = {"HOME": folder, **environment, data: folder}
        with _started(command, own, url, Path(folder)):
            pass
        with _started(command, own, url, Path(folder)) as running:
            yield running


@contextmanager
def _started(command: Sequence[str], environment: Mapping[str, str], url: str, folder: Path) -> Iterator[Running]:
    log = folder / "bench.log"
    began = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=bare_environment(**environment),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_page(url, process)
        yield Running(url, process.pid, time.perf_counter() - began)
    except TimeoutError as error:
        raise TimeoutError(f"{error}\n{log.read_text(errors='replace')[-2_000:]}") from None
    finally:
        _end(process)


def wait_for_page(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until it was answered in full. Raises TimeoutError, also where the process has ended."""
    asked = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})  # llama.cpp's page comes in no other way
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                answer.read()
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise TimeoutError(f"No page at {url}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    if process.poll() is None:
        for each in (*psutil.Process(process.pid).children(recursive=True), process):
            each.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
