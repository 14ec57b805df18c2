"""The bare graph is as many empty kernels in a row as it should be, and nothing of it is left."""

import ctypes
from types import SimpleNamespace

import pytest

from sim_node.cli.benches.bare_graph import bare_graph
from sim_node.device.names import get_device
from sim_node.errors import DriverError


class Graphs:
    """What a driver does with graphs, kept; put into a simulated one."""

    def __init__(self, gpu, refused=0):
        self.nodes, self.launched, self.ended, self.image, self.refused = [], [], [], b"", refused
        driver = gpu.driver
        driver.CUDA_KERNEL_NODE_PARAMS = SimpleNamespace
        for name in ("cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiate", "cuGraphLaunch", "cuGraphDestroy",
                     "cuGraphExecDestroy", "cuModuleLoadData", "cuModuleGetFunction", "cuModuleGetGlobal",
                     "cuModuleUnload"):  # fmt: skip
            setattr(driver, name, getattr(self, name))
        self._launch = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(self._by_address)
        driver._callbacks["cuGraphLaunch"] = self._launch

    def cuGraphCreate(self, flags):
        return 0, 11

    def cuGraphAddKernelNode(self, graph, before, count, params):
        assert (graph, len(before)) == (11, count)
        self.nodes.append((list(before), params.func, (params.gridDimX, params.blockDimX)))
        return 0, 100 + len(self.nodes)

    def cuGraphInstantiate(self, graph, flags):
        return 0, 12

    def cuGraphLaunch(self, graph, stream):
        self.launched.append(("bindings", graph, stream))
        return (0,)

    def _by_address(self, graph, stream):
        self.launched.append(("pointers", graph, stream))
        return self.refused

    def cuGraphDestroy(self, graph):
        self.ended.append(graph)
        return (0,)

    cuGraphExecDestroy = cuGraphDestroy

    def cuModuleLoadData(self, image):
        self.image = image
        return 0, 13

    def cuModuleGetFunction(self, module, name):
        return 0, 14

    def cuModuleGetGlobal(self, module, name):
        return 500, None, 0

    def cuModuleUnload(self, module):
        self.ended.append(module)
        return (0,)


def test_it_is_a_row_of_empty_kernels(simulate):
    gpu = simulate()
    graphs = Graphs(gpu)
    with bare_graph(gpu.device, 3, 256) as calls, gpu.device.active():
        assert graphs.nodes == [([], 14, (1, 256)), ([101], 14, (1, 256)), ([102], 14, (1, 256))]
        assert graphs.image.endswith(b"\0")
        graphs.launched.clear()
        waits = gpu.driver.calls["cuStreamSynchronize"]
        for call in calls.values():
            call()
        assert graphs.launched == [("bindings", 12, 5), ("pointers", 12, 5)]
        assert gpu.driver.calls["cuStreamSynchronize"] == waits + 2
        assert graphs.ended == [11]
    del calls, call
    assert {11, 12} <= set(graphs.ended)


def test_a_driver_that_refuses_is_told(simulate):
    gpu = simulate()
    Graphs(gpu, refused=700)
    with pytest.raises(DriverError, match="graph of empty kernels"), bare_graph(gpu.device, 2, 32):
        pass


@pytest.mark.gpu
def test_on_a_gpu():
    gpu = get_device("cuda:0")
    with bare_graph(gpu, 20, 256) as calls, gpu.active():
        assert set(calls) == {"bindings", "pointers"}
        calls["bindings"]()
        assert calls["pointers"]() == 0
