"""The demo engine: llama.cpp in a process of its own, supervised by the web process."""

from chatapp.engine.demo import (
    demo_base_url,
    is_wanted,
    make_engine,
    model_name,
    model_path,
    reason_unwanted,
    start_if_wanted,
    stop,
)
from chatapp.engine.supervisor import BackOff, Engine

__all__ = [
    "BackOff",
    "Engine",
    "demo_base_url",
    "is_wanted",
    "make_engine",
    "model_name",
    "model_path",
    "reason_unwanted",
    "start_if_wanted",
    "stop",
]
