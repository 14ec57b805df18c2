"""The compile bench measures fresh processes on the caches that it says, with peers or without."""

from pathlib import Path

import pytest

from sim_node.cli.benches import compile as bench
from sim_node.device.names import get_device


def test_figures_and_absent_peers(monkeypatch, tmp_path):
    for name in bench.PEERS:
        (tmp_path / f"{name}.py").write_text("raise ImportError('none here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(bench, "KERNELS", 2)
    monkeypatch.setattr(bench, "_CHANGED", 1)
    monkeypatch.setattr(bench, "ROUNDS", {})
    kept = []
    process = bench._process

    def watched(contender, file, device, **asked):
        answer = process(contender, file, device, **asked)
        kept.append(len(list(Path(file.parent, "cache").glob("*.o"))))
        return answer

    monkeypatch.setattr(bench, "_process", watched)
    measured = bench.run()
    assert kept == [2, 2, 3, 0, 0]  # cold, warm, changed; and the peers, once each
    assert all(measured.figures[f"{state}_ms"] > 0 for state in ("cold", "warm", "changed"))
    assert all("none here" in measured.peers[name]["absent"] for name in bench.PEERS)
    assert measured.ratios == {}


def test_on_a_gpu_peers_are_those_of_gpus(monkeypatch, simulate):
    asked = []

    def process(contender, _file, device, **_):
        asked.append((contender, device))
        return {"absent": "none here"} if contender == "numba_cuda" else {"version": "1", "build_ms": 1, "import_ms": 2}

    monkeypatch.setattr(bench, "_process", process)
    measured = bench.run(simulate().device)
    assert set(asked) == {("sim_node", "cuda:0"), ("warp", "cuda:0"), ("numba_cuda", "cuda:0")}
    assert measured.peers["numba_cuda"] == {"absent": "none here"}
    assert measured.ratios["vs_warp_cold"] == 1.0
    assert measured.as_json()["machine"]["gpu"]["arch"] == "sm_90"


def test_a_peer_that_fails_is_absent(monkeypatch, tmp_path):
    (tmp_path / "warp.py").write_text("raise RuntimeError('no driver\\n here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    file = tmp_path / "plants.py"
    file.write_text("")
    assert bench._process("warp", file, "cuda:0", compiles=True) == {"absent": "RuntimeError: no driver here"}


@pytest.mark.gpu
def test_on_a_gpu(monkeypatch):
    monkeypatch.setattr(bench, "KERNELS", 2)
    monkeypatch.setattr(bench, "_CHANGED", 1)
    monkeypatch.setattr(bench, "ROUNDS", {})
    measured = bench.run(get_device("cuda:0"))
    assert measured.figures["cold_ms"] > measured.figures["warm_ms"] > 0


def test_ratios(monkeypatch):
    times = {"sim_node": 1.0, "warp": 20.0, "numba": 30.0}
    monkeypatch.setattr(
        bench, "_process", lambda who, _file, _device, **_: {"version": "1", "build_ms": times[who], "import_ms": 2.0}
    )
    measured = bench.run()
    assert measured.ratios["vs_warp_cold"] == measured.ratios["vs_warp_warm"] == 20.0
    assert measured.ratios["vs_numba_changed"] == 30.0
    assert measured.peers["warp"]["version"] == "1"
