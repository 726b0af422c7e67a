"""Calls to OpenAI-compatible endpoints; the only place that knows the openai client. Plain values go in and out."""

from chatapp.llm.clients import close_clients
from chatapp.llm.completing import Completion, Gathered, complete
from chatapp.llm.patience import Patience
from chatapp.llm.probing import ModelInfo, Probe, find_ollama, probe
from chatapp.llm.streaming import stream_chat
from chatapp.llm.target import Target

__all__ = [
    "Completion",
    "Gathered",
    "ModelInfo",
    "Patience",
    "Probe",
    "Target",
    "close_clients",
    "complete",
    "find_ollama",
    "probe",
    "stream_chat",
]
