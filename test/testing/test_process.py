"""A controller's process: what it said is told, and it does not outlive its block."""

import os
import sys

import pytest

from sim_node.errors import SimNodeError
from sim_node.testing import process as module
from sim_node.testing.process import ControllerProcess


def test_one_that_ends_is_told_with_its_last_words(tmp_path):
    command = [sys.executable, "-c", "import sys; print('so far'); sys.exit('no more')"]
    with ControllerProcess(command, tmp_path / "log") as process:
        with pytest.raises(SimNodeError, match=r"(?s)exit code 1, and said:.*so far.*no more"):
            process.wait(lambda: ["force"])
        assert "exit code 1" in process.ended()


def test_one_that_is_silent_is_told_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "START_S", 0.0)
    with ControllerProcess(["sleep", "1000"], tmp_path / "log") as process:
        assert process.ended() == ""
        process.wait(list)
        with pytest.raises(SimNodeError, match="sent nothing to 'force' within 0 s and said nothing"):
            process.wait(lambda: ["force"])
        pid = process._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert "signal 15" in process.ended()


def test_one_that_does_not_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "END_S", 0.1)
    command = [
        sys.executable,
        "-c",
        "import signal; signal.pthread_sigmask(0, {15}); print(1, flush=True); signal.pause()",
    ]
    with ControllerProcess(command, tmp_path / "log") as process:
        process.wait(lambda: [] if process.log.read_text() else ["force"])
    assert "signal 9" in process.ended()


def test_one_that_is_not_there(tmp_path):
    with (
        pytest.raises(SimNodeError, match="cannot be started: No such file"),
        ControllerProcess(["/none"], tmp_path / "l"),
    ):
        pass
