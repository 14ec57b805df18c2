"""``sim-node build``: once compiled, a plant starts from the cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


HIDING = """
import sys

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from sim_node.cli.main import main
main()
"""


def hidden(*arguments, **names):
    """A command where llvmlite is not installed, with an empty cache; its exit code, what it printed, what it said."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **names}
    command = [sys.executable, "-c", HIDING, *map(str, arguments), "--json"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_bundle_runs_and_verifies_without_llvm(plant, cache, tmp_path):
    out, bag, empty = tmp_path / "bundle", tmp_path / "run.mcap", {"SIM_NODE_CACHE": str(tmp_path / "empty")}
    targets = ["host", "x86-64-v3", "aarch64", "sm_90"]
    made = build(plant, *[word for target in targets for word in ("--target", target)], "--out", out)
    assert made["targets"] == targets
    assert [".target sm_90" in path.read_text() for path in out.glob("sm_90/*.ptx")] == [True] * made["kernels"]
    assert len(list(out.glob("sm_90/add-*.ptx"))) == 1, "a GPU hashes by a kernel"
    assert made["bundle"] == str(out)
    assert {path.name for path in out.iterdir()} == {"manifest.json", *made["targets"]}
    offline = ("--offline", "--seconds", "0.05", "--bag", bag)
    without = hidden("run", plant, *offline, **empty)
    assert without.returncode == 2
    assert "no compiler here" in without.stdout
    run = hidden("run", plant, *offline, "--bundle", out, **empty)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["ticks"] == 50
    verified = hidden("verify", bag, "--bundle", out, **empty)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["verified"] == 50


@pytest.mark.gpu
def test_a_plant_steps_on_a_gpu_by_a_bundle_without_llvm(plant, cache, tmp_path):
    out = tmp_path / "bundle"
    build(plant, "--target", "host", "--target", "sm_75", "--out", out)
    offline = ("run", plant, "--offline", "--seconds", "0.05", "--bag", tmp_path / "run.mcap", "--device", "cuda:0")
    run = hidden(*offline, "--bundle", out, SIM_NODE_CACHE=str(tmp_path / "empty"))
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["ticks"] == 50
    assert all("-bundled-" in path.name for path in (tmp_path / "empty").glob("*.cubin"))


def test_a_target_needs_a_bundle_and_a_name(plant, cache, tmp_path):
    assert "--out" in build(plant, "--target", "host")["error"]
    assert "x86-64-v3" in build(plant, "--target", "sparc", "--out", tmp_path / "out")["error"]
    assert "sm_90" in build(plant, "--target", "sm_12", "--out", tmp_path / "out")["error"]


def test_clean_compiles_again(plant, cache):
    build(plant)
    again = build(plant, "--clean")
    assert (again["compiled"], again["cached"]) == (1, 0)
    assert again["removed"] >= 1
