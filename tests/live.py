"""The real server as a process of its own, with a data directory and an environment of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIXES = ("OPENAI_", "OIDC_", "DJANGO_", "LOCAL_MODEL", "FOLDLINE_", "PYTEST_", "SECRET_KEY", "PRIVATE_ENDPOINTS")
OWN = {"HOST", "PORT", "DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "TRUSTED_PROXIES", "DEBUG", "ALLOWED_HOSTS"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_open(port: int, *, seconds: float = 30) -> None:
    """Until something listens at that port of the loopback address."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < end, f"Nothing listens at {port}"
            time.sleep(0.05)
        else:
            return


def bare_environment(**extra: str) -> dict[str, str]:
    """This process's environment without anything that Foldline or Django would read, and `extra`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIXES) and name not in OWN}
    return kept | extra


@dataclass
class LiveServer:
    """`manage.py serve` in a process group of its own; what it printed is in `output`."""

    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def _log(self) -> Path:
        return self.data / f"serve-{self.port}.log"  # several may share the folder

    def start(self, *, seconds: float = 180) -> LiveServer:
        """Starts it and waits for /readyz/ to answer; the same data and port when it is started again."""
        self.data.mkdir(parents=True, exist_ok=True)
        own = {"FOLDLINE_DATA": str(self.data), "PORT": str(self.port)}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--prepare"],
                cwd=ROOT,
                env=bare_environment(**own) | self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self.wait_until_ready(seconds)
        return self

    def wait_until_ready(self, seconds: float) -> None:
        assert self.process is not None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"The server ended with {self.process.returncode}:\n{self.output}")
            try:
                with urllib.request.urlopen(f"{self.url}/readyz/", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        raise RuntimeError(f"The server was not ready in {seconds} s:\n{self.output}")

    def stop(self, *, by: signal.Signals = signal.SIGTERM, seconds: float = 30) -> int:
        """Ends it (`by=signal.SIGKILL` for a sudden death); returns its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise RuntimeError(f"The server didn't stop within {seconds} s:\n{self.output}") from None
