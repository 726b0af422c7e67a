"""Gradio's chat on an OpenAI-compatible endpoint, as its guide writes it: `python gradio_chat.py BASE_URL PORT`.

Run with the Python that gradio was installed for, not with the project's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import gradio
from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none")


def answer(message: str, history: list[dict[str, object]]) -> Iterator[str]:
    before = [{"role": turn["role"], "content": turn["content"]} for turn in history]
    messages = [*before, {"role": "user", "content": message}]
    said = ""
    for chunk in client.chat.completions.create(model="scripted", messages=messages, stream=True):
        if chunk.choices:
            said += chunk.choices[0].delta.content or ""
            yield said


if __name__ == "__main__":
    gradio.ChatInterface(answer).launch(server_name="127.0.0.1", server_port=int(sys.argv[2]), quiet=True)
