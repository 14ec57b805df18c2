"""The frame of all commands: help, version, one JSON object, one clear line, exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sim_node as package
from sim_node.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def fresh(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)


def test_help_names_every_command_and_loads_none_of_the_heavy_modules():
    code = (
        "import sys; from sim_node.cli.main import run; code = run(['--help']);"
        "heavy = {'numpy', 'llvmlite', 'rclpy', 'rosbags', 'mcap', 'plotly', 'sim_node.plant'} & set(sys.modules);"
        "print(sorted(heavy), code, file=sys.stderr)"
    )
    done = fresh("-c", code)
    assert done.stderr.strip() == "[] 0"
    assert all(f" {name} " in done.stdout for name in COMMANDS)


def test_version(sim_node):
    said = sim_node("--version")
    assert (said.code, said.out) == (0, f"sim-node {package.__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_its_json(sim_node, name):
    said = sim_node(name, "--help")
    assert said.code == 0
    assert "--json" in said.out or "COMMAND" in said.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "nowhere.mcap"),
        ("verify",),
        ("verify", "x", "--no-such-option"),
        ("fly",),
        ("run", "no_such_module:Plant", "--offline", "--seconds", "1", "--bag", "x.mcap"),
        ("run", "quarter_car", "--offline"),
        ("run", "quarter_car", "--offline", "--seconds", "1", "--bag", "x.mcap", "--param", "mass"),
        ("run", "quarter_car", "--bag", "x.mcap"),
        ("new", "my-car"),
        ("build", "no.yaml"),
        ("inspect", "bag", "nowhere"),
        ("inspect", "plant", "nothing"),
    ],
    ids=" ".join,
)
def test_unusable_input_is_one_clear_error_with_exit_code_2(sim_node, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = sim_node(*arguments, "--json")
    assert said.code == 2
    assert said.object["error"]
    assert "Traceback" not in said.err
    plain = sim_node(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert plain.err
    assert not list(tmp_path.iterdir())


def test_what_a_plant_prints_does_not_spoil_the_json(sim_node, plant, tmp_path):
    said = sim_node("run", plant, "--offline", "--seconds", 0.01, "--bag", tmp_path / "b.mcap", "--json")
    assert json.loads(said.out)["ticks"] == 10
    assert "a plant that prints" in said.err


def test_a_closed_pipe_is_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sim_node.cli", "inspect", "include-dir"]
    done = subprocess.run(command, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert "Traceback" not in done.stderr


def test_plants_in_the_current_folder_are_found(plant):
    done = fresh("-m", "sim_node.cli", "inspect", "plant", "springs:Springs", "--json", cwd=plant.parent)
    assert json.loads(done.stdout)["plant"] == "springs:Springs"


def test_what_other_processes_and_c_print_leaves_stdout_to_the_object(plant, tmp_path):
    plant.write_text(plant.read_text() + "\nimport os\nos.system('echo said by a child')\nprint('said here')\n")
    arguments = ("run", plant, "--offline", "--seconds", "0.01", "--bag", tmp_path / "b.mcap", "--json")
    done = fresh("-m", "sim_node.cli", *map(str, arguments))
    assert (done.returncode, json.loads(done.stdout)["ticks"]) == (0, 10)
    assert "said by a child" in done.stderr
    assert "said here" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("raise TypeError('mine')", r"Springs\.build failed: TypeError: mine \(.*springs\.py:\d+\)"),
        ("self.y", r"Springs\.build failed: AttributeError: .* \(.*springs\.py:\d+\)"),
    ],
)
def test_an_authors_exception_is_one_line_with_its_place(sim_node, plant, tmp_path, change, message):
    plant.write_text(plant.read_text().replace("        plan.launch", f"        {change}\n        plan.launch"))
    for command in (("build", plant), ("run", plant, "--offline", "--seconds", "1", "--bag", tmp_path / "b.mcap")):
        said = sim_node(*command, "--json")
        assert said.code == 2
        assert re.search(message, said.object["error"])
        assert "Traceback" not in said.err
    assert not (tmp_path / "b.mcap").exists()


def test_a_fault_of_ours_is_one_line_too(sim_node, monkeypatch):
    monkeypatch.setattr("sim_node.bridge.rings", lambda: 1 // 0)
    said = sim_node("inspect", "rings", "--json")
    assert said.code == 2
    assert re.match(r"ZeroDivisionError: .*test_main\.py:\d+\): this is a fault", said.object["error"])
