from functools import partial

import pytest

import sim_node as sn
from sim_node.errors import DeviceError


def test_a_scope_ends():
    before = sn.get_preferred_device()
    with sn.ScopedDevice("cpu") as device:
        assert sn.get_preferred_device() is device is sn.get_device("cpu")
        assert sn.zeros(1).device is device
    assert sn.get_preferred_device() is before


def test_a_device_that_is_not_there_is_no_choice():
    for choose in (sn.set_device, sn.ScopedDevice, sn.synchronize_device):
        with pytest.raises(DeviceError, match="no device 'cuda:7'"):
            choose("cuda:7")
    sn.set_device("cpu")
    assert str(sn.get_preferred_device()) == "cpu"


def test_what_is_there_is_said():
    assert sn.is_cpu_available()
    assert sn.is_device_available("cpu")
    assert sn.is_device_available(sn.get_device("cpu"))
    assert not sn.is_device_available("cuda:7")
    assert sn.is_cuda_available() is any(device.is_cuda for device in sn.get_devices())


def test_what_was_launched_has_ended():
    sn.synchronize()
    sn.synchronize_device()
    sn.synchronize_device("cpu")


def test_a_gpu_is_waited_for_once_it_was_used(simulate):
    gpu = simulate()
    sn.synchronize()
    assert not gpu.driver.calls["cuStreamSynchronize"]
    sn.zeros(4, device="cuda:0")
    for wait in (sn.synchronize, partial(sn.synchronize_device, "cuda:0")):
        before = gpu.driver.calls["cuStreamSynchronize"]
        wait()
        assert gpu.driver.calls["cuStreamSynchronize"] == before + 1
