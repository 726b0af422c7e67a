"""The engine's own process: llama.cpp's server on a free loopback port, started by path so that nothing else is loaded.

Its address is the one line it writes to standard output; the end of standard input (the web process is gone) ends it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import threading

import xllamacpp

PR_SET_PDEATHSIG = 1
PROMPT_CACHE_MIB = 256
# For the bundled model alone: the longest reply in tokens, and how much a word costs that was just said.
TAME_REPLY, TAME_REPETITION = 512, 1.1
WARNINGS = 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--tame", action="store_true", help="the bundled toy: it repeats itself without end")
    return parser.parse_args()


def end_with_parent() -> None:
    """Both ways are needed: loading a model holds the interpreter's lock, and only Linux has the signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the web process, which saves first
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=exit_at_end_of_input, daemon=True).start()


def exit_at_end_of_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def cores() -> int:
    """Those that this process may use, which a container or `taskset` makes fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parameters(asked: argparse.Namespace) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = asked.model
    params.model_alias = {asked.name}
    # The context is divided among the slots; each chat is to have the whole window.
    params.n_ctx = asked.context * asked.slots
    params.n_parallel = asked.slots
    # Its threads wait for each other by spinning: one more than there are cores to run on, and nothing moves.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    params.fit_params = False
    params.ctx_shift = False  # a full window is an error to be handled, never a silent loss of the oldest text
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.verbosity = WARNINGS
    params.ui = False
    params.endpoint_slots = False  # it would show the chats' text to whoever reaches the port
    params.cors_origins = ""
    if asked.tame:
        params.n_predict = TAME_REPLY
        params.sampling.penalty_repeat = TAME_REPETITION
    return params


def main() -> None:
    end_with_parent()
    os.nice(5)  # the page stays quick while the model computes
    server = xllamacpp.Server(parameters(arguments()))
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
