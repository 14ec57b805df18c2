"""The command around the benches: one JSON object, tables, and a file for the record."""

import importlib
import inspect
import json

from sim_node.cli.bench import ON_GPUS
from sim_node.cli.benches import launch, spring_gpu
from sim_node.cli.benches.measurement import Measurement

MADE = Measurement("launch", {"launch_us_1": 0.25}, {"warp": {"absent": "none here"}}, {"vs_warp": 40.0})


def test_prints_and_saves_the_same(sim_node, monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "run", lambda: MADE)
    said = sim_node("bench", "launch", "--save", str(tmp_path / "kept"), "--json")
    assert said.code == 0
    assert said.object["ratios"] == {"vs_warp": 40.0}
    assert json.loads((tmp_path / "kept" / "launch.json").read_text()) == said.object


def test_tables_show_absent_peers(sim_node, monkeypatch):
    monkeypatch.setattr(launch, "run", lambda: MADE)
    said = sim_node("bench", "launch")
    assert said.code == 0
    assert "none here" in said.out
    assert "40" in said.out


def test_an_unknown_bench_is_refused(sim_node):
    assert sim_node("bench", "nothing").code == 2


def test_who_measures_on_gpus_takes_one():
    for module in ON_GPUS.values():
        run = importlib.import_module(f"sim_node.cli.benches.{module}").run
        assert next(iter(inspect.signature(run).parameters)) == "gpu"


def test_of_a_gpu_the_file_has_another_name(sim_node, simulate, monkeypatch, tmp_path):
    simulate()
    monkeypatch.setattr(spring_gpu, "run", lambda gpu: Measurement("spring", {"gbs_64M": 4000.0}, device=gpu))
    said = sim_node("bench", "spring", "--device", "cuda:0", "--save", str(tmp_path), "--json")
    assert said.code == 0
    assert [file.name for file in tmp_path.iterdir()] == ["spring_cuda.json"]
    gpu = json.loads((tmp_path / "spring_cuda.json").read_text())["machine"]["gpu"]
    assert gpu == {"title": "Simulated GPU", "arch": "sm_90", "memory_gib": 1.0, "driver": gpu["driver"]}
    assert gpu["driver"].startswith("13000")


def test_a_bench_that_does_not_measure_there_is_refused(sim_node, simulate):
    simulate()
    said = sim_node("bench", "math", "--device", "cuda:0")
    assert said.code == 2
    assert (
        "bench math does not measure on 'cuda:0': all do on the CPU, and on GPUs bridge, spring, compile, tick"
        in said.err
    )
    assert sim_node("bench", "spring", "--device", "python").code == 2


def test_an_absent_device_is_refused(sim_node):
    said = sim_node("bench", "spring", "--device", "cuda:7")
    assert said.code == 2
    assert "no device 'cuda:7'" in said.err
