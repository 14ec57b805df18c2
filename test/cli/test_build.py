"""``sim-node build``: once compiled, a plant starts from the cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
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


SCRIPT = """
import os
import sys
import warnings
import numpy as np
import sim_node as sn
from beside import COUNT

device = os.environ.get("DEVICE", "cpu")

def scaled(values):
    @sn.kernel
    def scale(x: sn.array(dtype=float), by: float):
        i = sn.tid()
        x[i] = x[i] * by
    sn.launch(scale, len(values), [values, 2.0], device=device)
    return values

if __name__ == "__main__":
    assert len(sys.argv) == 1
    warnings.simplefilter("error", RuntimeWarning)  # a bundle that is passed by
    whole = sn.array(np.arange(COUNT) % 7, dtype=int, device=device)
    sums, order = sn.zeros_like(whole), sn.array(np.arange(COUNT), dtype=int, device=device)
    sn.utils.array_scan(whole, sums)
    sn.utils.radix_sort_pairs(whole, order, COUNT // 2)
    runs = sn.zeros_like(whole), sn.zeros_like(whole)
    count = sn.utils.runlength_encode(whole, *runs, value_count=COUNT // 2)
    both = sn.utils.array_inner(sums, sums, count=COUNT // 2)
    columns = sn.utils.array_sum(sums.reshape((2, -1)), axis=0)
    total = sn.utils.array_sum(scaled(sn.ones(COUNT, device=device)))
    print(int(sums[-1]), int(order[3]), count, both, int(columns.numpy()[0, -1]), total, "llvmlite" in sys.modules)
"""


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def test_what_a_script_launches_runs_without_llvm(cache, tmp_path, device):
    script, out = tmp_path / "sums.py", tmp_path / "bundle"
    script.write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("COUNT = 4000")
    made = build("--script", script, "--target", "host", "--target", "sm_75", "--out", out)
    kernels = {kernel["name"] for kernel in json.loads((out / "manifest.json").read_text())["kernels"]}
    parts = {"sum_parts", "multiply_parts", "run_parts", "count_digits", "place", "mark_heads", "list_heads"}
    assert kernels == parts | {"measure_runs", "scale", "add", "publish"}
    assert made["kernels"] == len(list(out.glob("sm_75/*.ptx"))) == len(list(out.glob("host/*.o")))
    hiding = HIDING.partition("from sim_node")[0]
    program = f"{hiding}import runpy\nsys.argv = ['']\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    run = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "SIM_NODE_CACHE": str(tmp_path / "empty")}
    environment |= {"DEVICE": device, "SIM_NODE_BUNDLE": str(out)}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    whole = np.arange(4000) % 7
    sums = np.cumsum(whole).astype(np.int32)
    both = (sums[:2000] * sums[:2000]).sum(dtype=np.int32)
    wanted = sums[-1], 21, 7, both, sums[1999] + sums[3999], 8000.0, False
    assert done.stdout.split() == list(map(str, wanted)), done.stderr
    environment["SIM_NODE_BUNDLE"] = ""
    without = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert "kernel 'sum_parts' is not in the cache, and there is no compiler here" in without.stderr


def test_a_script_that_fails_is_told(cache, tmp_path):
    script = tmp_path / "failing.py"
    for text, told in (("import sys\nsys.exit(3)", "it ended with 3"), ("\n1 / 0", "division by zero")):
        script.write_text(text)
        error = build("--script", script)["error"]
        assert error.startswith(f"--script {script}: ")
        assert told in error
    script.write_text("import sys\nsys.exit(0)")
    assert build("--script", script)["kernels"] == 0
    assert "No such file" in build("--script", tmp_path / "absent.py")["error"]


def test_a_target_needs_a_bundle_and_a_name(plant, cache, tmp_path):
    assert "--out" in build(plant, "--target", "host")["error"]
    assert "x86-64-v3" in build(plant, "--target", "sparc", "--out", tmp_path / "out")["error"]
    assert "sm_90" in build(plant, "--target", "sm_12", "--out", tmp_path / "out")["error"]


def test_clean_compiles_again(plant, cache):
    build(plant)
    again = build(plant, "--clean")
    assert (again["compiled"], again["cached"]) == (1, 0)
    assert again["removed"] >= 1
