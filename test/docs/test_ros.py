"""The page about consumers in ROS: its plant and its files of parameters run, and its tables are what there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from rclpy.qos import ReliabilityPolicy

from sim_node.node.process import hosted, running
from sim_node.node.standard.forms import FORMS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "ros.md").read_text("utf-8")
CONFIG = ROOT / "config" / "quarter_car_topics.yaml"
(PLANT,) = re.findall(r"```python\n# bodies\.py\n(.*?)```", TEXT, re.DOTALL)
(FOLLOWER,) = re.findall(r"```python\n# follow\.py\n(.*?)```", TEXT, re.DOTALL)
BODIES, QUALITY, SIMULATED = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def configured(ros_domain, cache, tmp_path, monkeypatch):
    """Configure a node with files of parameters; gives its publishers by the last part of their names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bodies.py").write_text(PLANT)

    def make(*texts):
        name, arguments = f"plant_{os.getpid()}", ["--ros-args"]
        for number, text in enumerate(texts):
            file = tmp_path / f"{number}.yaml"
            file.write_text(text.replace("/plant", f"/{name}"))
            arguments += ["--params-file", str(file)]
        with hosted(arguments, name=name) as node:
            node.make("configure")
            assert node.parameters.strangers() == []
            return {publisher.topic_name.split("/")[-1]: publisher.qos_profile for publisher in node.publishers}

    return make


@pytest.mark.parametrize("text", [BODIES, CONFIG.read_text("utf-8")], ids=["page", "config"])
def test_its_parameters_are_taken(configured, text):
    topics = re.findall(r"^      (\w+):", text, re.MULTILINE)
    assert topics
    assert set(topics) <= set(configured(text))


def test_its_quality_is_taken(configured):
    cloud, poses = map(configured(BODIES, QUALITY).get, ("cloud", "poses"))
    assert (cloud.reliability, cloud.depth) == (ReliabilityPolicy.BEST_EFFORT, 1)
    assert (poses.reliability, poses.depth) == (ReliabilityPolicy.RELIABLE, 10)


def test_its_clock_is_published(configured):
    assert "clock" in configured(BODIES, SIMULATED)


def test_its_reader_runs(ros_domain, cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bodies.py").write_text(PLANT)
    name = f"plant_{os.getpid()}"
    with running({name: {"plant": "bodies.py:Bodies"}}):
        code = FOLLOWER.replace("/plant", f"/{name}")
        names = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", code], env=names, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    path, *ticks = done.stdout.splitlines()
    assert path == f"shared memory because ring '{name}' is of this host"
    assert len(ticks) == 3


@pytest.mark.parametrize("name", FORMS)
def test_its_tables_are_complete(name):
    (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}`")]
    options = [option for option in FORMS[name].options if f"| `{option.name}` |" not in TEXT]
    assert all(f"`{option.name}`" in row for option in options)
    assert all(f"`{choice}`" in row for option in options for choice in option.choices)
    assert all(f"`{member}`" in row for member in FORMS[name].members)


def test_what_it_points_at_is_there():
    for path in re.findall(r"\]\(([\w/.]+)\)", TEXT):
        assert (ROOT / "docs" / path).exists(), path
