"""The driver is loaded once, says what is missing, and turns what it answers into errors."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from sim_node.device import driver
from sim_node.errors import DeviceError


class Bindings:
    """A driver that answers as it is told, and counts."""

    def __init__(self, start: int = 0) -> None:
        self.start, self.started = start, 0

    def cuInit(self, flags):
        self.started += 1
        return (self.start,)

    def cuGetProcAddress(self, name, version, flags):
        return 0, 1, 0

    def cuDeviceGetCount(self):
        return 0, 3

    def cuMemGetInfo(self):
        return 0, 1, 2

    def cuCtxSynchronize(self):
        return (0,)

    def cuMemAlloc(self, size):
        return 2, None

    def cuGetErrorName(self, result):
        return 0, b"CUDA_ERROR_OUT_OF_MEMORY"

    def cuGetErrorString(self, result):
        return 0, b"out of memory"


@pytest.fixture
def unloaded(monkeypatch):
    monkeypatch.setattr(driver, "_bindings", None)
    monkeypatch.setattr(driver, "_owner", 0)
    monkeypatch.setattr(driver, "_native", SimpleNamespace(DRIVER=("cuLaunchKernel",), drive=lambda addresses: None))


@pytest.fixture
def bindings(monkeypatch, unloaded):
    made = Bindings()
    monkeypatch.setattr(driver.importlib, "import_module", lambda name: made)
    return made


def test_it_starts_once_and_gives_what_functions_give(bindings):
    driver.load()
    driver.load()
    assert driver.call("cuDeviceGetCount") == 3
    assert driver.call("cuMemGetInfo") == (1, 2)
    assert driver.call("cuCtxSynchronize") is None
    assert bindings.started == 1


def test_an_answer_that_is_an_error_is_one(bindings):
    with pytest.raises(driver.DriverError, match="cuMemAlloc answers CUDA_ERROR_OUT_OF_MEMORY: out of memory") as told:
        driver.call("cuMemAlloc", 8)
    assert told.value.result == "CUDA_ERROR_OUT_OF_MEMORY"


def test_no_gpu_is_no_fault_of_the_driver_and_another_answer_is(bindings):
    bindings.start = 100
    driver.load()
    bindings.start = 3
    driver._bindings = None
    with pytest.raises(DeviceError, match="cuInit answers"):
        driver.load()


def test_what_is_not_there_is_named(monkeypatch, unloaded):
    def absent(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(driver.importlib, "import_module", absent)
    with pytest.raises(DeviceError, match=r"pip install 'sim_node\[cuda\]'"):
        driver.load()

    def missing(flags):
        raise RuntimeError("libcuda.so.1\nis not here")

    monkeypatch.setattr(driver.importlib, "import_module", lambda name: SimpleNamespace(cuInit=missing))
    with pytest.raises(DeviceError, match=r"no GPU can be used: libcuda.so.1 is not here"):
        driver.load()


def test_a_forked_process_is_told(bindings):
    driver.load()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            driver.call("cuDeviceGetCount")
        except DeviceError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    assert b"forked from one that uses GPUs" in os.read(reading, 1000)
    os.close(reading)
