"""The supervisor with small programs in the engine's place: they tell an address, die at once or do not listen."""

import sys
import threading
from pathlib import Path

import pytest

from chatapp.engine import BackOff, Engine

QUICK = BackOff(first=0.01, longest=0.02, healthy=60)
SPEAKS = "import sys; print('http://127.0.0.1:1', flush=True); sys.stdin.read()"
DIES = "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(3)"
DEAF = "import time; print('http://h:1', flush=True); time.sleep(60)"


def an_engine(folder: Path, program: str, *arguments: str) -> Engine:
    return Engine([sys.executable, "-c", program, *arguments], log_path=folder / "engine.log", back_off=QUICK)


def test_address_is_what_the_engine_tells(tmp_path):
    engine = an_engine(tmp_path, SPEAKS)
    engine.start()
    assert engine.wait_ready(10)
    assert engine.base_url() == "http://127.0.0.1:1/v1"
    engine.stop()


def test_address_is_none_before_start_and_after_stop(tmp_path):
    engine = an_engine(tmp_path, SPEAKS)
    assert engine.base_url() is None
    engine.start()
    engine.wait_ready(10)
    engine.stop()
    assert engine.base_url() is None
    assert engine.pid is None


def test_engine_that_dies_at_once_is_started_again_and_again(tmp_path):
    starts = tmp_path / "starts"
    engine = an_engine(tmp_path, DIES, str(starts))
    engine.start()
    wait_for(lambda: starts.exists() and len(starts.read_text()) >= 3)
    assert engine.base_url() is None
    engine.stop()


def test_engine_that_cannot_be_started_leaves_no_address(tmp_path, caplog):
    engine = Engine(["/nowhere/engine"], log_path=tmp_path / "engine.log", back_off=QUICK)
    engine.start()
    wait_for(lambda: "No such file" in caplog.text)
    assert engine.base_url() is None
    engine.stop()


def test_engine_that_does_not_listen_is_ended_all_the_same(tmp_path):
    engine = an_engine(tmp_path, DEAF)
    engine.start()
    assert engine.wait_ready(10)
    engine.stop(patience=0.1)
    assert engine.pid is None


def test_stop_before_the_first_start_is_no_error(tmp_path):
    an_engine(tmp_path, SPEAKS).stop()


def wait_for(condition, *, seconds: float = 10) -> None:
    """What other processes do can only be looked at; a hundred looks a second."""
    pause = threading.Event()
    for _ in range(int(seconds * 100)):
        if condition():
            return
        pause.wait(0.01)
    pytest.fail("It didn't happen in time.")
