"""llama.cpp's server with its own page, which its wheel holds, on the demo model: `python -m bench.llama_page PORT`."""

from __future__ import annotations

import argparse
import signal
import sys

import xllamacpp

from chatapp.engine import child, model_name, model_path

CONTEXT = 8_192


def main() -> None:
    child.end_with_parent()
    asked = argparse.Namespace(model=str(model_path()), name=model_name(), context=CONTEXT, slots=1, tame=False)
    params = child.parameters(asked)
    params.ui, params.port = True, int(sys.argv[1])
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
