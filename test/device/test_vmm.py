"""Memory that other processes open by a descriptor: as large as it says, zeroed, and given back whole."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from devices import GPUS

from sim_node.device import vmm
from sim_node.device.driver import DriverError, call

OPEN = """
import sys
sys.path[:0] = [{test!r}]
import numpy as np, pytest
from devices import absent
if absent():
    from simulated import Gpu
    gpu = Gpu(pytest.MonkeyPatch())
from sim_node.device import vmm
from sim_node.device.names import get_device
device, file, nbytes = get_device("cuda:0"), *map(int, sys.argv[1:])
mapping, words = vmm.Mapping(device, file, nbytes), np.zeros(4, np.uint32)
device.read(words.ctypes.data, mapping.base + nbytes - 16, words.nbytes)
print(*words.tolist(), flush=True)
words += 1
device.write(mapping.base, words.ctypes.data, words.nbytes)
"""


def free(device):
    with device.active():
        return call("cuMemGetInfo")[0]


@GPUS
def test_another_process_reads_and_writes_the_same_memory(device):
    made, words = vmm.Allocation(device, 100), np.full(4, 7, np.uint32)
    device.write(made.address + made.nbytes - 16, words.ctypes.data, words.nbytes)
    code = OPEN.format(test=str(Path(__file__).resolve().parents[1]))
    command = [sys.executable, "-c", code, str(made.file), str(made.nbytes)]
    assert subprocess.check_output(command, text=True, pass_fds=[made.file]).split() == ["7"] * 4
    device.read(words.ctypes.data, made.address, words.nbytes)
    assert words.tolist() == [8] * 4


@GPUS
def test_an_allocation_is_of_whole_pieces_zeroed_and_given_back(device):
    vmm.Allocation(device, 100)  # the driver keeps what it opens at the first
    gc.collect()
    before, files = free(device), len(os.listdir("/proc/self/fd"))
    made = vmm.Allocation(device, 100)
    assert made.nbytes >= 100
    assert free(device) <= before - made.nbytes
    assert (made.offset, os.get_inheritable(made.file)) == (0, False)
    words = np.ones(made.nbytes // 4, np.uint32)
    device.read(words.ctypes.data, made.address, words.nbytes)
    assert not words.any()
    mapping, nbytes = vmm.Mapping(device, made.file, made.nbytes), made.nbytes
    word = np.full(1, 9, np.uint32)
    device.write(made.address, word.ctypes.data, 4)
    del made
    gc.collect()
    assert free(device) <= before - nbytes  # who maps it keeps it
    device.read(words.ctypes.data, mapping.base, 4)
    assert words[0] == 9
    del mapping
    gc.collect()
    assert free(device) == before
    assert len(os.listdir("/proc/self/fd")) == files


@GPUS
def test_more_than_there_is_cannot_be_mapped(device):
    made = vmm.Allocation(device, 100)
    with pytest.raises(DriverError, match="the CUDA driver's cuMem"):
        vmm.Mapping(device, made.file, 2 * made.nbytes)
    with pytest.raises(DriverError, match="the CUDA driver's cuMem"):
        vmm.Mapping(device, made.file, made.nbytes + 1)


def test_another_descriptor_is_refused(simulate):
    gpu = simulate()
    with open(os.devnull) as other, pytest.raises(DriverError, match="cuMemImportFromShareableHandle"):
        vmm.Mapping(gpu.device, other.fileno(), 2 << 20)


@pytest.mark.parametrize("function", ["cuMemExportToShareableHandle", "cuMemMap", "cuMemSetAccess"])
def test_what_fails_half_way_gives_all_back(simulate, monkeypatch, function):
    gpu = simulate()
    monkeypatch.setattr(gpu.driver, function, lambda *given: (801, None))
    with pytest.raises(DriverError, match=function):
        vmm.Allocation(gpu.device, 100)
    gc.collect()
    assert (gpu.driver.physical, gpu.driver.ranges) == ({}, {})


def test_a_shortage_says_what_there_is(simulate):
    gpu = simulate(capacity=8 << 20)
    with pytest.raises(MemoryError, match=r"cannot allocate 16,777,216 bytes: 8,388,608 of 8,388,608 are free"):
        vmm.Allocation(gpu.device, 16 << 20)


def test_what_cannot_share_says_why(simulate):
    gpu = simulate()
    assert vmm.refusal(gpu.device) == ""
    gpu.driver.can_export = False
    assert vmm.refusal(gpu.device) == "cuda:0 (Simulated GPU) does not share memory by file descriptors"
