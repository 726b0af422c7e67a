"""Keeps one engine process running: starts it, learns its address, starts it again when it dies, ends it."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger("foldline.engine")


@dataclass(frozen=True, slots=True)
class BackOff:
    """Seconds between a death and the next start: doubling from first to longest, afresh after a healthy run."""

    first: float = 0.5
    longest: float = 30.0
    healthy: float = 60.0

    def after(self, previous: float, *, lived: float) -> float:
        if not previous or lived >= self.healthy:
            return self.first
        return min(previous * 2, self.longest)


class Engine:
    """One supervised engine. `command` starts it; it tells its address (http://host:port) in its first output line."""

    def __init__(self, command: Sequence[str], *, log_path: Path, back_off: BackOff | None = None) -> None:
        self._command = list(command)
        self._log_path = log_path
        self._back_off = back_off or BackOff()
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="engine", daemon=True)

    def start(self) -> None:
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        self._log_path.write_bytes(b"")
        self._thread.start()

    def stop(self, *, patience: float = 3.0) -> None:
        """Ends the engine for good; returns when it is gone."""
        self._stopping.set()
        process = self._process
        if process is not None:
            self._end(process, patience)
        if self._thread.is_alive():
            self._thread.join(patience)

    def base_url(self) -> str | None:
        """The address for an OpenAI client; None while the engine isn't up."""
        return f"{self._address}/v1" if self._ready.is_set() else None

    def wait_ready(self, timeout: float) -> bool:
        return self._ready.wait(timeout)

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _supervise(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            began = time.monotonic()
            code = self._run_once()
            if self._stopping.is_set():
                return
            pause = self._back_off.after(pause, lived=time.monotonic() - began)
            logger.warning("The engine ended (%s); it starts again in %.1f s. %s", code, pause, self._last_words())
            self._stopping.wait(pause)

    def _last_words(self) -> str:
        lines = self._log_path.read_text(errors="replace").splitlines()
        return f"{self._log_path}: {lines[-1].strip()[:300]}" if lines else ""

    def _run_once(self) -> int | str:
        """Runs the engine until it ends; its exit code, or why it could not be begun."""
        try:
            with self._log_path.open("ab") as log:
                process = subprocess.Popen(  # noqa: S603 (our own interpreter and file)
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
                )
        except OSError as error:
            return str(error)
        self._process = process
        if self._stopping.is_set():  # stop() may have looked just before there was a process
            self._end(process, 0)
        with process:
            assert process.stdout is not None
            self._address = process.stdout.readline().decode().strip()
            if self._address:
                self._ready.set()
            code = process.wait()
            self._ready.clear()
        return code

    def _end(self, process: subprocess.Popen[bytes], patience: float) -> None:
        self._ready.clear()
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
