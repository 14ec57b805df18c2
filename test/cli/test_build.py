"""``sim-node build``: once compiled, a plant starts from the cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPRINGS = """
import sim_node as sn
from sim_node.plant import Plant
Floats = sn.array(dtype=float)
@sn.kernel(guards="clamp")
def move(x: Floats, v: Floats, k: float, dt: float, x_next: Floats, v_next: Floats):
    i = sn.tid()
    v_next[i] = v[i] - dt * k * x[i]
    x_next[i] = x[i] + dt * v_next[i]
class Springs(Plant):
    x = sn.state(sn.float32, shape=2)
    v = sn.state(sn.float32, shape=2)
    def build(self, plan, dt):
        plan.launch(move, 2, [self.x, self.v, 5.76e6, dt], [self.x.next, self.v.next])
"""


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


def test_guards_and_steps_too_long_are_told(tmp_path, cache, capfd):
    (tmp_path / "springs.py").write_text(SPRINGS)
    built = build(f"{tmp_path / 'springs.py'}:Springs")
    assert built["guards"] == [f"{tmp_path / 'springs.py'}:Springs: move"]
    assert "dt·√(k/m) = 2.4 > 2" in capfd.readouterr().err


def test_without_arguments_the_packages_own_plants_are_built(cache):
    assert build()["kernels"] >= 1
    assert build()["compiled"] == 0
