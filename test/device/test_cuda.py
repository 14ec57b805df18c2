"""A GPU's memory and code are taken and given back, whoever asks; shortages and limits are named."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from devices import GPU

from sim_node.device import cuda, driver
from sim_node.errors import DeviceError

GPUS = pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)


@GPUS
def test_memory_is_written_read_moved_and_given_back(device):
    contents, found = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    first, second = device.holding(contents.tobytes()), device.allocate(contents.nbytes, zeroed=True)
    device.read(found.ctypes.data, second.address, found.nbytes)
    assert not found.any()
    device.move(second.address, first.address, contents.nbytes)
    device.read(found.ctypes.data, second.address, found.nbytes)
    assert (found == contents).all()
    before = device.arena.taken
    del first, second
    assert device.arena.taken < before


@GPUS
def test_making_and_dropping_leaves_memory_flat(device):
    kept = [device.allocate(100) for _ in range(10)]
    reserved, taken = device.arena.reserved, device.arena.taken
    for _ in range(100_000):
        device.allocate(4096)
    assert (device.arena.reserved, device.arena.taken, len(kept)) == (reserved, taken, 10)


def test_a_shortage_names_what_was_asked_what_is_free_and_who_holds_most(simulate):
    device = simulate(capacity=256 << 20).device
    held = [device.allocate(100 << 20, label="the big one"), device.allocate(10 << 20, label="a small one")]
    with pytest.raises(MemoryError) as caught:
        device.allocate(200 << 20)
    told = str(caught.value).splitlines()
    assert "cuda:0 (Simulated GPU) cannot allocate 209,715,200 bytes" in told[0]
    assert [line.split(": ")[1] for line in told[1:]] == ["the big one", "a small one"]
    assert len(held) == 2


@GPUS
def test_pinned_memory_lives_as_long_as_the_view(device):
    view = device.pinned(16)
    view[:] = bytes(range(16))
    part = view[4:8]
    del view
    assert bytes(part) == bytes(range(4, 8))


@GPUS
def test_any_thread_may_use_it_and_keeps_its_own(device):
    results = []

    def use():
        results.append(len(device.holding(b"1234").device.title) > 0)
        results.append(int(driver.call("cuCtxGetCurrent")))

    thread = threading.Thread(target=use)
    before = int(driver.call("cuCtxGetCurrent"))
    thread.start()
    thread.join()
    assert results[0]
    assert int(driver.call("cuCtxGetCurrent")) == before


def test_it_is_made_once(simulate):
    gpu = simulate()
    for _ in range(3):
        driver.load()
        assert cuda.gpus() == [gpu.device]
        gpu.device.synchronize()
    assert gpu.driver.calls["cuDevicePrimaryCtxRetain"] == 1


def test_what_the_driver_answers_to_code_is_told(simulate):
    device = simulate().device
    with pytest.raises(driver.DriverError, match="line 1: that is no instruction"):
        device.link(b"nonsense")
    assert device.link(b".version 7.8") == b".version 7.8"


def test_a_block_is_the_least_that_fills_the_device(simulate, monkeypatch):
    gpu = simulate()
    assert gpu.device.block(1) == 256
    monkeypatch.setattr(gpu.driver, "cuOccupancyMaxActiveBlocksPerMultiprocessor", lambda f, n, s: (0, 1536 // n))
    monkeypatch.setattr(gpu.driver, "cuFuncGetAttribute", lambda a, f: (0, 512))
    assert (gpu.device.block(1), gpu.device.block_limit(1)) == (256, 512)
    monkeypatch.setattr(gpu.driver, "cuFuncGetAttribute", lambda a, f: (0, 96))
    assert gpu.device.block(1) == 96


def test_a_fork_neither_uses_nor_frees(simulate, monkeypatch):
    device = simulate().device
    memory = device.allocate(4)
    monkeypatch.setattr(driver, "_owner", -1)
    with pytest.raises(DeviceError, match="forked"):
        device.allocate(1 << 30)
    device.unload(1)  # silently: it is not this process's
    assert memory.nbytes == 4


def test_memory_is_shared_while_that_lives_or_refused(simulate, monkeypatch):
    gpu = simulate()
    owner = SimpleNamespace(region=(4096, 100))
    shared = gpu.device.share(owner)
    assert gpu.driver.registered == {4096: 100}
    del shared
    assert gpu.driver.registered == {}
    monkeypatch.setattr(gpu.driver, "cuDeviceGetAttribute", lambda attribute, device: (0, 0))
    with pytest.raises(DeviceError, match="does not reach the host's memory by its addresses"):
        gpu.device.share(owner)
