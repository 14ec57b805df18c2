"""Memory and events that other processes open: each address leads to its own bytes, wherever its allocation begins."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from devices import GPUS

from sim_node.device import ipc
from sim_node.device.driver import call

OPEN = """
import sys
sys.path[:0] = [{test!r}]
import numpy as np, pytest
from devices import absent
if absent():
    from simulated import Gpu
    gpu = Gpu(pytest.MonkeyPatch())
from sim_node.device import ipc
from sim_node.device.names import get_device
device = get_device("cuda:0")
for line in sys.stdin:
    handle, offset = line.split()
    mapping, words = ipc.Mapping(device, bytes.fromhex(handle)), np.zeros(4, np.uint32)
    device.read(words.ctypes.data, mapping.base + int(offset), words.nbytes)
    print(*words.tolist(), flush=True)
"""


@GPUS
def test_four_views_in_one_pool_read_1_2_3_4(device):
    """The handle is of the allocation that they share, so an offset of our own says which is meant."""
    parts = [device.allocate(16, label="views") for _ in range(4)]
    for number, part in enumerate(parts, 1):
        words = np.full(4, number, np.uint32)
        device.write(part.address, words.ctypes.data, words.nbytes)
    told = [ipc.exported(device, part.address) for part in parts]
    assert len({handle for handle, _ in told}) == 1
    assert len({offset for _, offset in told}) == 4
    code = OPEN.format(test=str(Path(__file__).resolve().parents[1]))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        for number, (handle, offset) in enumerate(told, 1):
            child.stdin.write(f"{handle.hex()} {offset}\n")
            child.stdin.flush()
            assert child.stdout.readline().split() == [str(number)] * 4
        child.stdin.close()
        assert child.wait(60) == 0


@GPUS
def test_an_allocation_is_of_whole_pieces_zeroed_and_freed(device):
    made = ipc.Allocation(device, 100)
    address = made.address
    with device.active():
        assert tuple(map(int, call("cuMemGetAddressRange", address))) == (address, ipc.PIECE)
    assert made.nbytes == ipc.PIECE
    assert (made.offset, len(made.handle)) == (0, ipc.HANDLE_BYTES)
    words = np.ones(ipc.PIECE // 4, np.uint32)
    device.read(words.ctypes.data, made.address, words.nbytes)
    assert not words.any()
    del made
    gc.collect()
    with device.active(), pytest.raises(ipc.DriverError):
        call("cuMemGetAddressRange", address)


@GPUS
def test_a_process_cannot_open_its_own(device):
    made = ipc.Allocation(device, 100)
    with pytest.raises(ipc.DriverError, match="cuIpcOpenMemHandle"):
        ipc.Mapping(device, made.handle)
    with pytest.raises(ValueError, match="an inter-process handle has 64 bytes, not 3"):
        ipc.Mapping(device, b"abc")


def test_what_cannot_share_says_why(simulate, monkeypatch, tmp_path):
    gpu = simulate()
    assert ipc.refusal(gpu.device) == ""
    gpu.driver.can_share = False
    assert ipc.refusal(gpu.device) == "cuda:0 (Simulated GPU) has no inter-process handles"
    release = tmp_path / "osrelease"
    release.write_text("5.15.90.1-microsoft-standard-WSL2\n")
    monkeypatch.setattr(ipc, "_KERNEL", release)
    assert "Windows Subsystem for Linux" in ipc.refusal(gpu.device)


def test_memory_without_a_handle_gives_its_room_back(simulate, monkeypatch):
    gpu = simulate()
    monkeypatch.setattr(gpu.driver, "cuIpcGetMemHandle", lambda base: (1, None))
    with pytest.raises(ipc.DriverError, match="cuIpcGetMemHandle"):
        ipc.Allocation(gpu.device, 100)
    gc.collect()
    assert gpu.driver.memory == {}


def test_an_event_of_another_process_is_destroyed_with_what_opened_it(simulate):
    gpu = simulate()
    made = ipc.SharedEvent(gpu.device)
    assert len(made.handle) == ipc.HANDLE_BYTES
    assert len(gpu.driver.events) == 1
    del made
    gc.collect()
    assert gpu.driver.events == {}
    assert gpu.driver.files == {}
