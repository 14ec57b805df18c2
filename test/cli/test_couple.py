"""``sim-node couple``, and ``sim-node run`` with a file of several plants."""

import subprocess
import sys

import pytest

NOTHING = "plants: {}\n"
PLANT = "plants: {/a_lone_plant: {plant: quarter_car}}\n"


@pytest.fixture
def written(tmp_path):
    """Write a file of that text."""

    def make(text):
        path = tmp_path / "net.yaml"
        path.write_text(text)
        return path

    return make


@pytest.mark.parametrize(
    ("command", "text", "options", "words"),
    [
        ("couple", PLANT, (), "couplings: there are none"),
        ("couple", "couplings: 5", (), "a list stands here"),
        ("run", NOTHING, (), "plants: there are none to run"),
        ("run", PLANT, ("--only", "a_lone_plnt"), "no such plant in"),
        ("run", PLANT, ("--rate", 50), "option 'rate' is for one plant; in"),
        ("run", PLANT, ("--offline",), "option 'offline' is for one plant; in"),
    ],
)
def test_what_cannot_be_is_refused(sim_node, written, command, text, options, words):
    pytest.importorskip("rclpy", reason="installed without ROS")
    said = sim_node(command, written(text), *options, "--json")
    assert (said.code, words in said.object["error"]) == (2, True), said.object


def test_only_is_of_a_file(sim_node):
    said = sim_node("run", "quarter_car", "--only", "/a", "--json")
    assert (said.code, "--only is for a .yaml file" in said.object["error"]) == (2, True)


def test_it_waits_for_its_plants_and_ends_when_told(written):
    path = written("couplings: [{from: /no_such_one/x, to: /no_such_other/u}]")
    command = [sys.executable, "-m", "sim_node.cli", "couple", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert "sim-node couplings: waits for /no_such_one: there is no ring" in process.stderr.readline()
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stderr.close()


def test_seconds_end_it(sim_node, written):
    said = sim_node("couple", written("couplings: [{from: /no_one/x, to: /no_other/u}]"), "--seconds", 0.01, "--json")
    assert (said.code, said.object) == (0, {"plants": {}})
