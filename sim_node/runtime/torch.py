"""Tensors of torch as arrays and arrays as tensors, over one memory; torch is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from typing import Any

from sim_node import dtypes
from sim_node.device.names import Device, get_device
from sim_node.errors import mistakes
from sim_node.runtime.array import Array
from sim_node.runtime.foreign import from_dlpack

# Our scalar types by torch's names of them; kernels have no others, and older torch no unsigned ones but the first.
_NAMES = {scalar: "bool" if scalar is dtypes.bool_ else scalar.numpy.name for scalar in dtypes.SCALARS}
_SIGNED = {dtypes.uint16: dtypes.int16, dtypes.uint32: dtypes.int32, dtypes.uint64: dtypes.int64}


def _torch() -> Any:
    return importlib.import_module("torch")


def device_from_torch(torch_device: Any) -> Device:
    """Look up the device of a ``torch.device`` or of torch's name of one; ``cuda`` is torch's current GPU.

    Raises DeviceError for one that kernels do not run on, or that is not there.
    """
    torch = _torch()
    given = torch.device(torch_device)
    if given.type == "cpu":
        return get_device("cpu")
    if given.type != "cuda":
        raise mistakes.DEVICE(f"torch's device '{given}': kernels run on the CPU and on GPUs of NVIDIA's")
    return get_device(f"cuda:{torch.cuda.current_device() if given.index is None else given.index}")


def device_to_torch(device: str | Device | None) -> str:
    """Tell torch's name of a device. Raises DeviceError for an unknown one."""
    place = get_device(device)
    return "cpu" if place.is_cpu else place.name


def dtype_to_torch(dtype: Any) -> Any:
    """Give the ``torch.dtype`` of a scalar type; of unsigned ones of more than 8 bits the signed one, as Warp does.

    Raises TypeError for what is no scalar type.
    """
    scalar = dtypes.element(dtype)
    if not isinstance(scalar, dtypes.Scalar):
        raise TypeError(f"{scalar!r} is no scalar type, and torch has a dtype for no other")
    return getattr(_torch(), _NAMES[_SIGNED.get(scalar, scalar)])


def dtype_from_torch(torch_dtype: Any) -> dtypes.Scalar:
    """Give the scalar type of a ``torch.dtype``. Raises TypeError where the kernel language has none."""
    torch = _torch()
    for scalar, name in _NAMES.items():
        if getattr(torch, name, None) is torch_dtype:
            return scalar
    raise TypeError(f"{torch_dtype} is no scalar type of the kernel language")


def from_torch(
    t: Any,
    dtype: Any = None,
    requires_grad: bool | None = None,
    grad: Any = None,
    return_ctype: bool = False,
    retain_grad: bool = False,
) -> Array:
    """Make an array over the memory of a tensor of the CPU or a GPU, as ``sn.from_dlpack`` does; no copy.

    Arrays have no gradients: a tensor that requires one is taken with ``requires_grad=False``. ``return_ctype`` is
    Warp's word for what is quicker to launch with, which an array is.
    Raises TypeError, ValueError, BufferError or DeviceError as ``sn.from_dlpack``, and ValueError where a gradient is
    asked for.
    """
    del return_ctype
    if not hasattr(t, "detach"):
        raise TypeError(f"from_torch takes a tensor, not {type(t).__name__}; sn.from_dlpack takes any library's")
    wanted = t.requires_grad if requires_grad is None else requires_grad
    if wanted or grad is not None or retain_grad:
        raise ValueError("arrays have no gradients; pass requires_grad=False, or tensor.detach()")
    return from_dlpack(t.detach(), dtype)


def to_torch(a: Array, requires_grad: bool | None = None) -> Any:
    """Make a tensor over the memory of an array; no copy. Unsigned numbers of more than 8 bits appear as signed ones.

    ``requires_grad`` is of the tensor; what kernels do is in no gradient. Raises TypeError for what is no array,
    BufferError for structs.
    """
    if not isinstance(a, Array):
        raise TypeError(f"to_torch takes an array, not {type(a).__name__}")
    if not a.writeable:
        raise BufferError("the array is read-only, and no tensor is; copy it once, with sn.clone(array)")
    tensor = _torch().from_dlpack(a)
    scalar = a.dtype.scalar
    if scalar in _SIGNED:
        tensor = tensor.view(dtype_to_torch(scalar))
    return tensor.requires_grad_(bool(requires_grad))
