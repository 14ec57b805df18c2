"""The bench of ticks on a GPU: its shape where the GPU is simulated, its figures where there is one."""

import sys
from contextlib import contextmanager

import pytest

from sim_node.cli.benches import tick_gpu
from sim_node.device.names import get_device

FEW = {"ticks": 20, "rounds": 2, "repeats": 3}


def test_figures_and_absent_peers(simulate, monkeypatch):
    ran = []

    @contextmanager
    def bare(gpu, kernels, threads):
        assert (kernels, threads) == (20, 256)
        yield {"bindings": lambda: ran.append("bindings"), "pointers": lambda: ran.append("pointers")}

    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(tick_gpu, "bare_graph", bare)
    measured = tick_gpu.run(simulate().device, **FEW)
    assert measured.figures["plan"]["count"] == 6
    assert measured.figures["plan"]["same_bits"]
    assert measured.figures["plan"]["host"]["count"] == 3
    assert {name: each["count"] for name, each in measured.figures["kernels"].items()} == {"link": 60}
    assert (ran.count("bindings"), ran.count("pointers")) == (9, 9)  # the first three of each are not counted
    bare_graph = measured.peers["bare"]
    assert bare_graph["p50_us"] == min(way["p50_us"] for way in bare_graph["ways"].values())
    assert "absent" in measured.peers["warp"]
    assert "absent" in measured.peers["cupy"]
    assert set(measured.ratios) == {"plan_to_bare_p50", "plan_to_bare_p99"}
    assert [measured.figures[name]["ticks"] for name in tick_gpu.CLOCKS] == [20] * 3


def test_peers_have_ratios(simulate, monkeypatch):
    @contextmanager
    def bare(gpu, kernels, threads):
        yield {"bindings": int}

    monkeypatch.setattr(tick_gpu, "bare_graph", bare)
    monkeypatch.setattr(tick_gpu, "CLOCKS", {})
    monkeypatch.setattr(tick_gpu, "_warp", lambda gpu: ("1", tick_gpu._ours(gpu)))
    monkeypatch.setattr(tick_gpu, "_cupy", lambda gpu: ("1", tick_gpu.Chain(int, lambda: None)))
    measured = tick_gpu.run(simulate().device, **FEW)
    assert measured.peers["warp"]["same_bits"]
    assert not measured.peers["cupy"]["same_bits"]
    assert {"warp_p50_vs_plan", "cupy_p99_vs_plan"} < set(measured.ratios)


@pytest.mark.gpu
def test_on_a_gpu():
    measured = tick_gpu.run(get_device("cuda:0"), **FEW)
    assert measured.figures["plan"]["same_bits"]
    assert measured.ratios["plan_to_bare_p50"] > 0
    assert measured.figures["native"]["ticks"] == 20
