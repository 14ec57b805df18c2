"""The recorder beside a running node: the bag holds every tick and verifies."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("sim_node.msg")

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sim_node.cli", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ask(*arguments):
    with start(*arguments, "--json") as command:
        return json.loads(command.communicate()[0])


def wait_for(process, *texts):
    """Read what a process logs until each text has been in a line."""
    missing = set(texts)
    for line in process.stderr:
        missing -= {text for text in missing if text in line}
        if not missing:
            return
    pytest.fail(f"ended without logging {missing}")


@pytest.mark.parametrize(("name", "storage"), [("node.mcap", "mcap"), ("node", "mcap"), ("node", "sqlite3")], ids=str)
def test_a_node_is_recorded_from_its_first_tick_on(ros_domain, tmp_path, name, storage):
    bag, node = tmp_path / name, f"recorded_{os.getpid()}"
    with start("record", "--node", f"/{node}", "--bag", bag, "--storage", storage, "--json") as recorder:
        wait_for(recorder, "recording")
        with start("run", "quarter_car", "--name", node) as running:
            wait_for(recorder, *(f"receiving /{node}/{topic}" for topic in ("record", "keyframe", "tick", "ring")))
            running.send_signal(signal.SIGINT)
            _, err = running.communicate()
            assert running.returncode == 0, err
        recorder.send_signal(signal.SIGINT)
        recorded, err = recorder.communicate()
    assert recorder.returncode == 0, err
    ticks = json.loads(recorded)["ticks"]
    assert ticks > 0
    found = ask("verify", bag)
    assert (found["ticks"], found["verified"], found["diverged"], found["skipped"]) == (ticks, ticks, 0, 0), found
    assert found["topics"] == [f"/{node}"]
    contents = ask("inspect", "bag", bag)
    (run,) = contents["runs"]
    assert (run["first"], run["last"], run["lost"]) == (1, ticks, 0)
    topics = {topic["topic"]: topic["messages"] for topic in contents["topics"]}
    assert topics[f"/{node}/ring"] == 1
    assert topics[f"/{node}/tick"] > 0


def test_the_seconds_count_from_the_first_message(ros_domain, tmp_path):
    bag, node = tmp_path / "late.mcap", f"late_{os.getpid()}"
    options = ("--wait", 60, "--seconds", 0.01)
    with start("record", "--node", f"/{node}", "--bag", bag, *options, "--json") as recorder:
        wait_for(recorder, "recording")
        with start("run", "quarter_car", "--name", node) as running:
            recorded, err = recorder.communicate()
            running.send_signal(signal.SIGINT)
            running.communicate()
    assert recorder.returncode == 0, err
    assert json.loads(recorded)["messages"] > 0


def test_nothing_to_record_is_said(ros_domain, tmp_path):
    found = ask("record", "--node", "/nobody", "--bag", tmp_path / "empty", "--seconds", 0.5)
    assert "nothing was received from /nobody" in found["error"]
