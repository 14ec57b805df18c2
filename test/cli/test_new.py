"""``sim-node new``: the package it makes works."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("build", ["ament_python", "ament_cmake"])
def test_the_new_package_passes_its_own_test(sim_node, tmp_path, build):
    said = sim_node("new", "test_rig_2", "--dir", tmp_path, "--build", build, "--json")
    assert (said.code, said.object["plant"]) == (0, "test_rig_2.plant:TestRig2")
    package = tmp_path / "test_rig_2"
    assert sorted(said.object["files"]) == sorted(
        str(file.relative_to(package)) for file in package.rglob("*") if file.is_file()
    )
    assert "$" not in "".join(file.read_text() for file in package.rglob("*.py"))
    ElementTree.parse(package / "package.xml")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sim_node.testing.plugin"]
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    index = (package / "evidence" / "index.html").read_text()
    assert "REQ-1" in index
    assert "NOT" not in index


def test_its_config_is_a_parameter_file_that_build_reads(sim_node, tmp_path, monkeypatch):
    sim_node("new", "rig_of_config", "--dir", tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "rig_of_config")
    said = sim_node("build", tmp_path / "rig_of_config" / "config" / "rig_of_config.yaml", "--json")
    assert said.code == 0
    assert said.object["kernels"] == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my-car", "'my_car' is one"),
        ("MyCar", "'my_car' is one"),
        ("9lives", "'lives' is one"),
        ("a__b", "'a_b' is one"),
        ("", "name of a ROS package"),
        ("../up", "'up' is one"),
        ("class", "would hide"),
        ("json", "would hide"),
        ("numpy", "would hide"),
    ],
)
def test_names_that_cannot_be_are_refused_with_one_that_can(sim_node, tmp_path, name, words):
    said = sim_node("new", name, "--dir", tmp_path, "--json")
    assert said.code == 2
    assert words in said.object["error"]
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_left_alone(sim_node, tmp_path):
    (tmp_path / "rig_one").mkdir()
    assert sim_node("new", "rig_one", "--dir", tmp_path).code == 2
    assert not list((tmp_path / "rig_one").iterdir())
