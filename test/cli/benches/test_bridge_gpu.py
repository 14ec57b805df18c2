"""The bench of the bridge on a GPU: its shape where the GPU is simulated, its figures where there is one."""

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from sim_node.cli.benches import bridge_gpu
from sim_node.device.names import get_device

# The reader, where the driver is simulated in its process as well, and the bare calls do nothing
READER = """
import sys
sys.path[:0] = [{test!r}]
from contextlib import contextmanager
import pytest
from simulated import Gpu
gpu = Gpu(pytest.MonkeyPatch())
from sim_node.cli.benches import bridge_gpu_reader as reader
@contextmanager
def bare(gpu, kernels, threads):
    yield {{"pointers": lambda: 0}}
reader.bare_graph, reader.bare_fetch = bare, lambda gpu, nbytes: lambda tick: None
name, way, device, last = sys.argv[1:]
reader.main(name, way, device, int(last))
"""


@contextmanager
def nothing(*_):
    yield lambda: None


@contextmanager
def empty(gpu, kernels, threads):
    yield {"pointers": lambda: 0}


def test_a_free_pace_waits_for_nothing():
    assert list(bridge_gpu._pace("free", 3)) == [1, 2, 3]


def test_each_way_has_figures_beside_bare_calls(simulate, monkeypatch):
    def module(name, *arguments):
        assert name == "bridge_gpu_reader"
        code = READER.format(test=str(Path(__file__).resolve().parents[2]))
        return [sys.executable, "-c", code, *map(str, arguments)]

    # at full speed a reader may see the last tick alone
    monkeypatch.setattr(bridge_gpu, "_pace", lambda _, ticks: bridge_gpu.paced(ticks))
    monkeypatch.setattr(bridge_gpu, "WARM", 4)
    monkeypatch.setattr(bridge_gpu, "SIZES", {"4kB": 4096})
    monkeypatch.setattr(bridge_gpu, "module", module)
    monkeypatch.setattr(bridge_gpu, "bare_flag", nothing)
    monkeypatch.setattr(bridge_gpu, "bare_graph", empty)
    monkeypatch.setattr(bridge_gpu.bridge_peers, "rclpy", lambda: {"absent": "not asked"})
    measured = bridge_gpu.run(simulate().device, ticks=30)
    names = {f"{way}_4kB_{pace}" for pace in ("1kHz", "free") for way in ("fetch", "kernel", "same_process")}
    hosts = {f"{kind}_4kB_{pace}" for pace in ("1kHz", "free") for kind in ("host", "own", "looked")}
    assert set(measured.figures) == names | hosts
    assert all(measured.figures[name]["count"] > 0 for name in names | hosts)
    assert set(measured.peers["bare"]) == names | {"flag_4kB_1kHz", "flag_4kB_free"}
    assert "vs_rclpy_1MB" not in measured.ratios


def test_ratios_are_of_medians_and_rclpys_message_has_to_be_copied_first():
    figures = {
        "host_1MB_1kHz": {"p50_us": 30.0},
        "own_1MB_1kHz": {"p50_us": 31.5},
        "looked_1MB_1kHz": {"p50_us": 2.0},
        "fetch_1MB_1kHz": {"p50_us": 40.0},
    }
    bare = {"flag_1MB_1kHz": {"p50_us": 25.0}, "fetch_1MB_1kHz": {"p50_us": 32.0}}
    peers = {"bare": bare, "rclpy": {"message_1MB": {"p50_us": 960.0}}}
    bridge_gpu._compare(figures, bare)
    assert figures["host_1MB_1kHz"] == {"p50_us": 30.0, "beyond_own_us": -1.5, "beyond_bare_us": 5.0}
    found = bridge_gpu.ratios(figures, peers)
    assert found == {"host_1MB_1kHz_to_bare": 1.2, "fetch_1MB_1kHz_to_bare": 1.25, "vs_rclpy_1MB": 200.0}
    bare["flag_1MB_1kHz"]["p50_us"] = 29.0  # then the look is all that there is to ours
    bridge_gpu._compare(figures, bare)
    assert bridge_gpu.ratios(figures, peers)["vs_rclpy_1MB"] == 500.0


@pytest.mark.gpu
def test_the_figures_of_a_gpu(monkeypatch):
    monkeypatch.setattr(bridge_gpu, "SIZES", {"4kB": 4096})
    monkeypatch.setattr(bridge_gpu.bridge_peers, "rclpy", lambda: {"absent": "not asked"})
    measured = bridge_gpu.run(get_device("cuda:0"), ticks=60)
    assert all(values["p50_us"] > 0 for values in measured.figures.values())
    assert all(values["p50_us"] > 0 for values in measured.peers["bare"].values())
