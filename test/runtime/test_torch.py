"""Tensors and arrays over one memory, by Warp's names; and what torch has and kernels have not."""

import gc
from types import SimpleNamespace

import pytest

import sim_node as sn
from sim_node.errors import DeviceError
from sim_node.runtime import torch as names

try:
    import torch
except ImportError:
    torch = None
TORCH = pytest.mark.skipif(torch is None, reason="torch is not installed")


def test_a_device_that_only_torch_has_is_refused(monkeypatch):
    fake = SimpleNamespace(device=lambda name: SimpleNamespace(type=name, index=None))
    monkeypatch.setattr(names, "_torch", lambda: fake)
    assert sn.device_from_torch("cpu") == sn.get_device("cpu")
    with pytest.raises(DeviceError, match=r"torch's device .* kernels run on the CPU and on GPUs"):
        sn.device_from_torch("mps")


@TORCH
def test_tensors_and_arrays_are_one_memory():
    tensor = torch.arange(6.0).reshape(2, 3)
    made = sn.from_torch(tensor, sn.vec3)
    assert (made.ptr, made.shape) == (tensor.data_ptr(), (2,))
    back = sn.to_torch(made)
    del made, tensor
    gc.collect()
    assert back.tolist() == [[0, 1, 2], [3, 4, 5]]


@TORCH
def test_gradients_are_refused_and_left():
    tensor = torch.zeros(2, requires_grad=True)
    with pytest.raises(ValueError, match="no gradients"):
        sn.from_torch(tensor)
    assert sn.from_torch(tensor, requires_grad=False).ptr == tensor.data_ptr()
    assert sn.to_torch(sn.zeros(2), requires_grad=True).requires_grad


@TORCH
def test_types_and_devices_have_torchs_names():
    assert sn.dtype_from_torch(torch.uint8) is sn.uint8
    assert sn.dtype_to_torch(sn.uint32) is torch.int32
    assert sn.to_torch(sn.zeros(2, sn.uint32)).dtype is torch.int32
    with pytest.raises(TypeError, match="no scalar type"):
        sn.dtype_from_torch(torch.complex64)
    with pytest.raises(TypeError, match="no scalar type"):
        sn.dtype_to_torch(sn.vec3)
    assert sn.device_from_torch("cpu") is sn.get_device("cpu")
    assert sn.device_to_torch("cpu") == "cpu"
    with pytest.raises(DeviceError, match="meta"):
        sn.device_from_torch("meta")


@TORCH
@pytest.mark.gpu
def test_tensors_of_a_gpu_are_arguments():
    tensor = torch.zeros(8, device="cuda:0")
    sn.launch(count, 8, [tensor], device="cuda:0")
    assert (tensor + 1).tolist() == [2] * 8
    made = sn.from_torch(tensor)
    assert made.device is sn.device_from_torch("cuda:0") is sn.get_device("cuda:0")
    assert sn.to_torch(made).data_ptr() == tensor.data_ptr()


@sn.kernel
def count(x: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = x[i] + 1.0
