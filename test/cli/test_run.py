"""``sim-node run --offline``, from plant to bag and back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("substeps", [1, 2, 3])
@pytest.mark.parametrize(("path", "storage"), [("r.mcap", "mcap"), ("r", "mcap"), ("r", "sqlite3")], ids=str)
def test_an_offline_run_verifies(sim_node, plant, tmp_path, path, storage, substeps):
    bag = tmp_path / path
    options = ("--seconds", 0.5, "--substeps", substeps, "--param", "count=5", "--storage", storage)
    done = sim_node("run", plant, "--offline", "--bag", bag, *options, "--keyframe-every", 200, "--json")
    assert (done.code, done.object["ticks"], done.object["keyframes"]) == (0, 500, 3)
    found = sim_node("verify", bag, "--json")
    assert found.code == 0
    assert (found.object["ticks"], found.object["verified"], found.object["diverged"]) == (500, 500, 0)
    assert found.object["first_divergence"] is None


def test_the_built_in_plant_verifies(sim_node, tmp_path):
    bag = tmp_path / "car.mcap"
    done = sim_node(
        "run", "quarter_car", "--offline", "--seconds", 2, "--rate", 500, "--bag", bag, "--seed", 7, "--json"
    )
    assert (done.object["ticks"], done.object["seconds"]) == (1000, 2.0)
    assert sim_node("verify", bag, "--json").object["verified"] == 1000


def test_inputs_of_a_file_are_applied_tick_by_tick(sim_node, plant, tmp_path):
    force = np.random.default_rng(0).random((200, 3))
    np.savez(tmp_path / "inputs.npz", force=force)
    for name, options in (("a", ("--inputs", tmp_path / "inputs.npz")), ("b", ("--input", "force=1"))):
        bag = tmp_path / f"{name}.mcap"
        assert sim_node("run", plant, "--offline", "--seconds", 0.3, "--bag", bag, *options).code == 0
        assert sim_node("verify", bag).code == 0
    assert (tmp_path / "a.mcap").read_bytes() != (tmp_path / "b.mcap").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--input", "thrust=1"), "no input 'thrust'"),
        (("--inputs", __file__), "not a .npz file"),
        (("--inputs", "nowhere.npz"), "not a .npz file"),
        (("--param", "k=-1"), "k"),
        (("--param", "k=1", "--param", "k=2"), "given twice"),
        (("--storage", "tape"), "mcap or sqlite3"),
    ],
)
def test_what_does_not_fit_is_refused(sim_node, plant, tmp_path, options, words):
    said = sim_node("run", plant, "--offline", "--seconds", 0.1, "--bag", tmp_path / "x.mcap", *options, "--json")
    assert said.code == 2
    assert words in said.object["error"]


def test_an_existing_bag_is_kept(sim_node, plant, bag):
    before = bag.read_bytes()
    again = ("run", plant, "--offline", "--seconds", 0.1, "--bag", bag)
    assert sim_node(*again).code == 2
    assert bag.read_bytes() == before
    assert sim_node(*again, "--force").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_a_bag_that_verifies(sim_node, plant, tmp_path, number):
    bag = tmp_path / "long.mcap"
    command = [sys.executable, "-m", "sim_node.cli", "run", plant, "--offline", "--seconds", 1e6, "--bag", bag]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(list(map(str, command)), env=environment, stderr=subprocess.PIPE, text=True) as running:
        # several chunks: a kill loses the one that is being written, which may be the first
        while not bag.exists() or bag.stat().st_size < 1_000_000:
            assert running.poll() is None
        running.send_signal(number)
        _, said = running.communicate()
    found = sim_node("verify", bag, "--json")
    assert (found.code, found.object["diverged"]) == (0, 0)
    assert found.object["verified"] == found.object["ticks"] > 100
    assert bool(found.object["torn"]) == (number == signal.SIGKILL)
    if number != signal.SIGKILL:
        assert running.returncode == 130
        assert "interrupted after" in said


@pytest.mark.parametrize(("name", "storage"), [("f.mcap", "mcap"), ("f", "mcap"), ("f", "sqlite3")], ids=str)
def test_a_full_disk_is_one_clear_error(plant, tmp_path, name, storage):
    options = ["--offline", "--seconds", "1000", "--storage", storage, "--bag", str(tmp_path / name)]
    command = [sys.executable, "-m", "sim_node.cli", "run", str(plant), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    limit = (
        "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20)); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", limit, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "bag: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input", "forc=1"], "no input 'forc'"),
        (["--input", "force=[1, 2]"], "'force' takes f32"),
        (["--inputs", "single.npy"], "one array without a name"),
        (["--inputs", "springs.py"], "not a .npz file"),
        (["--seconds", "inf"], "wrong usage"),
        (["--rate", "nan"], "wrong usage"),
        (["--name", "a b"], "is not a name for a ring"),
        (["--param", "count=10000000000000000000000"], "has 10000000000000000000000 elements"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_bag(sim_node, plant, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    np.save("single.npy", np.zeros((3, 3)))
    said = sim_node("run", "springs.py", "--offline", "--seconds", "1", "--bag", "bad.mcap", *options, "--json")
    assert said.code == 2
    assert message in said.object["error"]
    assert not Path("bad.mcap").exists()


def test_a_script_that_ends_its_process_is_no_plant(sim_node, plant):
    plant.write_text("import sys\nsys.exit(3)\n")
    said = sim_node("inspect", "plant", plant, "--json")
    assert said.code == 2
    assert "cannot be loaded: SystemExit: 3" in said.object["error"]
