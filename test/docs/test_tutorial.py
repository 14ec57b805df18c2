"""The tutorial, as a newcomer would follow it: its files are saved, its commands run, and they end as it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python|console)\n(.*?)```", TEXT, re.DOTALL)
FILES = {code.splitlines()[0].lstrip("# "): code for kind, code in BLOCKS if kind == "python"}
LINES = [line for kind, code in BLOCKS if kind == "console" for line in code.splitlines()]


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """The folder with the files, and the virtual environment's programs first on the path."""
    for name, code in FILES.items():
        (tmp_path / name).write_text(code)
    monkeypatch.chdir(tmp_path)
    programs = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def words(line, prompt):
    """Split a line of the page into the words of its command, without the comment."""
    command = shlex.split(line.removeprefix(prompt).partition("    #")[0])
    return [sys.executable, "-m", "sim_node.cli", *command[1:]] if command[0] == "sim-node" else command


def test_the_part_without_ros(environment):
    said = {}
    for line in (line for line in LINES if line.startswith("$ ")):
        done = subprocess.run(words(line, "$ "), env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == (1 if "# exits 1" in line else 0), line + done.stdout + done.stderr
        said[line] = done.stdout + done.stderr
    assert "DIVERGED" in said["$ sim-node verify first.mcap    # exits 1"]
    assert "index 8 is outside array 'x' of length 8" in said["$ python mistake.py    # exits 1"]


def test_the_part_in_ros(environment, ros_domain):
    pytest.importorskip("rclpy", reason="installed without ROS")
    pytest.importorskip("sim_node.msg", reason="installed without ROS")
    name = f"pendulum_{ros_domain}"
    node, controller, recorder, verify = (
        [
            word.replace("pendulum", name) if "/pendulum" in word or word == "pendulum" else word
            for word in words(line, "ros$ ")
        ]
        for line in LINES
        if line.startswith("ros$ ")
    )
    environment["ROS_DOMAIN_ID"] = str(ros_domain)
    started = [subprocess.Popen(command, env=environment) for command in (recorder, controller, node)]
    try:
        assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    finally:
        for process in started:
            process.kill()
    done = subprocess.run(verify, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
