"""``sim-node build``: once compiled, a plant starts from the cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sim_node.cli", "build", *map(str, arguments), "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout)


def test_a_second_build_compiles_nothing(plant, cache):
    first, second = build(plant), build(plant)
    assert first.keys() >= {"kernels", "compiled", "cached", "seconds", "cache", "targets"}
    assert (first["kernels"], first["compiled"], first["cached"]) == (1, 1, 0)
    assert (second["kernels"], second["compiled"], second["cached"]) == (1, 0, 1)
    assert first["cache"] == str(cache)
    assert first["targets"] == ["host"]


def test_a_parameter_file_is_built_with_the_parameters_in_it(plant, cache, tmp_path):
    file = tmp_path / "nodes.yaml"
    file.write_text(f"car:\n  ros__parameters:\n    plant: {plant}\n    plant_parameters: {{count: 9}}\n")
    assert build(file)["kernels"] == 1


def test_without_arguments_the_packages_own_plants_are_built(cache):
    assert build()["kernels"] >= 1
    assert build()["compiled"] == 0
