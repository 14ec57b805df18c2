"""A graph does what was added in that order, each time it is launched; small kernels begin beside those before them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from devices import GPU

import sim_node as sn
from sim_node.device.driver import call
from sim_node.device.graph import Graph
from sim_node.runtime.program import load

GPUS = pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)


@sn.kernel
def double(x: sn.array(dtype=sn.int32), n: sn.int32):
    i = sn.tid()
    x[i] = x[i] * n


def block_of(address: int, count: int, n: int) -> bytes:
    """The argument block of a launch of ``double``: ARCHITECTURE.md, ABI."""
    dims, place = np.array([count, 1, 1, 1], np.int32), np.array([address, count], np.int64)
    return dims.tobytes() + place.tobytes() + np.array([n, 0], np.int32).tobytes()


def launch_of(graph: Graph, device, memory, count: int, n: int, *, waits: bool = True, block: int = 32,
              most: int = 2**31 - 1) -> None:  # fmt: skip
    entry = load(double, device)
    reports = device.own
    graph.launch(
        entry.program.address, count, block, 2**63 - 1, most, block_of(memory.address, count, n), reports.records,
        entry.program.owner, waits=waits,
    )  # fmt: skip


def run(graph: Graph, device) -> None:
    with device.active():
        call("cuGraphLaunch", graph.handle, device.stream)
    device.synchronize()


@GPUS
def test_what_was_added_runs_in_that_order_each_time(device):
    memory = device.allocate(400)
    source, zeros = device.pinned(400), device.pinned(200)
    zeros[:] = bytes(200)
    address = [ctypes.addressof(ctypes.c_char.from_buffer(view)) for view in (source, zeros)]
    graph = Graph(device)
    graph.copy(memory.address, address[0], 400)
    launch_of(graph, device, memory, 100, 3)
    launch_of(graph, device, memory, 75, 5)
    graph.copy(memory.address, address[1], 200)
    launch_of(graph, device, memory, 100, 7)
    graph.end()
    for start in (1, 1000):
        numbers = np.arange(start, start + 100, dtype=np.int32)
        np.frombuffer(source, np.int32)[:] = numbers
        run(graph, device)
        expected = numbers * 3
        expected[:75] *= 5
        left = np.zeros(100, np.int32)
        device.read(left.ctypes.data, memory.address, 400)
        expected[:50] = 0
        assert (left == expected * 7).all()


def test_kernels_of_few_blocks_that_wait_begin_early(simulate):
    gpu = simulate()
    device, memory = gpu.device, gpu.device.allocate(4096)
    graph = Graph(device)
    launch_of(graph, device, memory, 100, 3)  # the first has none before it
    assert gpu.driver.early == 0
    launch_of(graph, device, memory, 100, 3)
    launch_of(graph, device, memory, 32 * device.processors, 3)
    assert gpu.driver.early == 2
    launch_of(graph, device, memory, 32 * device.processors + 1, 3)
    launch_of(graph, device, memory, 100, 3, waits=False)
    assert gpu.driver.early == 2
    launch_of(graph, device, memory, 100, 3, most=2)  # 32 threads a block: in two pieces, the second behind the first
    assert gpu.driver.early == 3
    graph.copy(memory.address, 0, 0)
    launch_of(graph, device, memory, 100, 3)  # what is before it is no kernel
    assert gpu.driver.early == 3


def test_a_graph_is_given_back_with_what_it_was_made_of(simulate):
    gpu = simulate()
    made, begun = Graph(gpu.device), Graph(gpu.device)
    made.end()
    assert len(gpu.driver.graphs) == 3
    del made, begun
    assert not gpu.driver.graphs
