"""The bench of springs on a GPU: its shape where the GPU is simulated, its figures where there is one."""

import sys

import pytest

from sim_node.cli.benches import spring_gpu
from sim_node.device.names import get_device

SMALL = {"1M": 1000, "64M": 3000}


def test_figures_and_absent_peers(simulate, monkeypatch):
    for name in ("warp", "numba", "cupy"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(spring_gpu, "ELEMENTS", SMALL)
    monkeypatch.setattr(spring_gpu, "alternated_us", lambda calls, rounds: dict.fromkeys(calls, 2.0))
    gpu = simulate()
    measured = spring_gpu.run(gpu.device)
    assert measured.figures == {
        "steps": spring_gpu.STEPS,
        "same_bits": True,
        "checks_cost_percent": 0.0,
        "gbs_1M": 160.0,
        "unchecked_gbs_1M": 160.0,
        "copy_gbs_1M": 160.0,
        "gbs_64M": 480.0,
        "unchecked_gbs_64M": 480.0,
        "copy_gbs_64M": 480.0,
    }
    assert measured.ratios == {"to_copy": 1.0}
    assert list(measured.peers) == ["warp", "numba_cuda", "cupy"]
    assert all(set(peer) == {"absent"} for peer in measured.peers.values())
    assert measured.as_json()["machine"]["gpu"]["title"] == "Simulated GPU"


def test_a_peer_is_compared_bit_by_bit(simulate, monkeypatch):
    def other(gpu):
        return "1", lambda x, v: spring_gpu._ours(gpu, x + 1, v)

    monkeypatch.setattr(spring_gpu, "ELEMENTS", SMALL)
    monkeypatch.setattr(spring_gpu, "_ROUNDS", dict.fromkeys(SMALL, 1))
    monkeypatch.setattr(spring_gpu, "_warp", lambda gpu: ("1", lambda x, v: spring_gpu._ours(gpu, x, v)))
    monkeypatch.setattr(spring_gpu, "_cupy", other)
    measured = spring_gpu.run(simulate().device)
    assert measured.peers["warp"]["same_bits"]
    assert not measured.peers["cupy"]["same_bits"]
    assert measured.ratios.keys() >= {"to_copy", "vs_warp", "vs_cupy"}


@pytest.mark.gpu
def test_on_a_gpu(monkeypatch):
    monkeypatch.setattr(spring_gpu, "ELEMENTS", SMALL)
    monkeypatch.setattr(spring_gpu, "_ROUNDS", dict.fromkeys(SMALL, 2))
    measured = spring_gpu.run(get_device("cuda:0"))
    assert measured.figures["same_bits"]
    assert measured.ratios["to_copy"] > 0
    for name, peer in measured.peers.items():
        assert "absent" in peer or measured.ratios[f"vs_{name}"] > 0
