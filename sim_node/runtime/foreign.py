"""Arrays over memory of other libraries, in place: by DLPack, or by the array interfaces of numpy and CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device import driver
from sim_node.device.cuda import Cuda
from sim_node.device.names import DEFAULT, Device, get_device
from sim_node.runtime.array import Array
from sim_node.runtime.element import native
from sim_node.runtime.exchange import DEFAULT_STREAM, GPU, MANAGED, TYPES, VERSION, components, numbered
from sim_node.runtime.view import spanned

_SCALARS = {type_: scalar for scalar, type_ in TYPES.items()}


def from_dlpack(x: Any, dtype: Any = None) -> Array:
    """Make an array over the memory of anything with ``__dlpack__`` on the CPU or a GPU, or of a capsule; no copy.

    With a composite dtype the last axes are its components; integers of the same size, signed or not, and bools stand
    for each other. No axes at all are one element. The memory is kept, and stays read-only where it is. On a GPU the
    producer makes the device's stream wait for what it asked of its own.
    Raises TypeError for what has no DLPack or another dtype, ValueError where shape or alignment do not fit,
    BufferError for other kinds of memory, DeviceError for a GPU that is not there.
    """
    return _array(_borrowed(x), None if dtype is None else dtypes.element(dtype))


def borrows(value: Any) -> bool:
    """Whether a value is no array of ours, and tells of memory in a way that is read here."""
    return not isinstance(value, (_native.Array, _native.Indexed, _native.Cell, np.ndarray, np.generic)) and any(
        hasattr(value, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__")
    )


def on_gpu(value: Any) -> bool:
    """Whether a value is no array of ours, and of the memory of a GPU."""
    if not borrows(value):
        return False
    return _cuda(value) is not None or (hasattr(value, "__dlpack__") and value.__dlpack_device__()[0] in (GPU, MANAGED))


def adopt(value: Any, dtype: Any = None, device: Device = DEFAULT, exact: bool = False) -> tuple[Array, int]:
    """Make an array over the memory of another library's; and the stream that must wait for what is done to it.

    CUDA's interface is asked first where it tells a stream, then DLPack, whose producer makes ours wait. The stream is
    0 where none need wait: the default stream and ours do so by themselves. ``device`` has what has no elements.
    ``exact`` takes no other integers than those of the dtype, and no single element.
    Raises as ``from_dlpack``.
    """
    told = _cuda(value)
    if told is not None and ("stream" in told or not hasattr(value, "__dlpack__")):
        address, stream = told["data"][0] or 0, told.get("stream") or DEFAULT_STREAM
        memory = _told(value, told, _holder(address) if address else device)
        if stream == DEFAULT_STREAM or not isinstance(memory.device, Cuda):
            return _array(memory, dtype, exact), 0
        memory.device.follow(stream)
        return _array(memory, dtype, exact), stream
    if hasattr(value, "__dlpack__"):
        return _array(_borrowed(value), dtype, exact), 0
    shared = np.asarray(value)
    return _array(_told(shared, shared.__array_interface__, DEFAULT), dtype, exact), 0


def adopted(
    params: Sequence[tuple[str, Any]], inputs: Any, outputs: Any, device: Device
) -> tuple[list[Any], list[Any], list[tuple[Cuda, int]]] | None:
    """Put arrays in the place of arguments that are memory of other libraries; None where there are no such.

    What does not fit its parameter becomes an array of scalars, of which the launch can say what is wrong. The last are
    the streams, each of a device, that must wait for the launch.
    """
    if not all(isinstance(part, (list, tuple)) for part in (inputs, outputs)):
        return None
    given, streams, found = [*inputs, *outputs], [], False
    for at, ((_, type_), value) in enumerate(zip(params, given)):
        if not isinstance(type_, dtypes.ArrayType) or not borrows(value):
            continue
        try:
            given[at], stream = _fitting(value, type_.dtype, device)
        except (TypeError, ValueError):
            continue
        found = True
        if stream:
            streams.append((given[at].device, stream))
    return (given[: len(inputs)], given[len(inputs) :], streams) if found else None


def _fitting(value: Any, dtype: Any, device: Device) -> tuple[Array, int]:
    try:
        return adopt(value, dtype, device, exact=True)
    except (TypeError, ValueError):
        return adopt(value, None, device)


def _cuda(value: Any) -> dict[str, Any] | None:
    """What a value tells of memory of a GPU; what shows it to numpy as well is memory that the CPU can use."""
    told: dict[str, Any] | None = getattr(value, "__cuda_array_interface__", None)
    return None if hasattr(value, "__array_interface__") else told


class _Memory:
    """Elements somewhere: their numpy dtype, where they are, and what keeps them; strides in bytes."""

    __slots__ = ("address", "device", "numpy", "owner", "readonly", "shape", "strides")

    def __init__(
        self, device: Device, numpy: np.dtype[Any], address: int, shape: Sequence[int], strides: Sequence[int] | None,
        owner: object, readonly: bool,
    ) -> None:  # fmt: skip
        self.device, self.numpy, self.address, self.owner, self.readonly = device, numpy, address, owner, readonly
        self.shape = tuple(shape)
        self.strides = components(self.shape, numpy.itemsize) if strides is None else tuple(strides)


def _borrowed(x: Any) -> _Memory:
    tensor = _native.Tensor(_capsule(x) if hasattr(x, "__dlpack__") else x)
    code, bits, lanes = tensor.type
    scalar = _SCALARS.get((code, bits)) if lanes == 1 else None
    if scalar is None:
        raise TypeError(
            f"elements of DLPack's type {code} with {bits} bits and {lanes} lanes are no scalars of the kernel language"
        )
    strides = None if tensor.strides is None else [step * scalar.size for step in tensor.strides]
    return _Memory(
        numbered(tensor.device), scalar.numpy, tensor.address, tensor.shape, strides, tensor, tensor.readonly
    )


def _capsule(x: Any) -> Any:
    """Ask for a capsule, for our stream where it is of a GPU; producers from before DLPack 1.0 know no version."""
    number = tuple(map(int, x.__dlpack_device__()))
    device = numbered((number[0], number[1]))
    asked = {"stream": int(device.stream)} if isinstance(device, Cuda) else {}
    try:
        return x.__dlpack__(**asked, max_version=VERSION)
    except TypeError:
        return x.__dlpack__(**asked)


def _told(owner: Any, told: dict[str, Any], device: Device) -> _Memory:
    """Read an array interface, numpy's or CUDA's, which are one."""
    if told.get("mask") is not None:
        raise ValueError(f"a {type(owner).__name__} with a mask: kernels have none")
    kind = np.dtype(told["typestr"])
    if kind.kind == "V" and told.get("descr"):
        kind = _record(told["descr"])
    address, readonly = told["data"]
    return _Memory(device, kind, address or 0, told["shape"], told.get("strides"), owner, readonly)


def _record(descr: Sequence[Any]) -> np.dtype[Any]:
    """Read a structured dtype as interfaces tell it: fields without a name are bytes between the others."""
    names, kinds, offsets, at = [], [], [], 0
    for name, kind, *shape in descr:
        inner = np.dtype((_record(kind) if isinstance(kind, list) else kind, *(shape or [()])))
        if name:
            names.append(name)
            kinds.append(inner)
            offsets.append(at)
        at += inner.itemsize
    return np.dtype({"names": names, "formats": kinds, "offsets": offsets, "itemsize": at})


def _holder(address: int) -> Device:
    """Find the GPU whose memory an address is of."""
    attribute = driver.bindings().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return get_device(f"cuda:{int(driver.call('cuPointerGetAttribute', attribute, address))}")


def _array(memory: _Memory, dtype: Any, exact: bool = False) -> Array:
    """Make the array; without dtype its elements are scalars."""
    element = native(dtypes.element(memory.numpy) if dtype is None else dtype)
    if memory.numpy != element.numpy and (exact or not _alike(memory.numpy, element.numpy)):
        raise TypeError(f"elements of {memory.numpy} are no {element.dtype!r}")
    axes = element.axes
    outer = len(memory.shape) - len(axes)
    inner = memory.shape[max(outer, 0) :]
    if outer < exact or inner != axes:
        raise ValueError(f"the last axes of shape {memory.shape} are not the components of a {element.dtype!r}, {axes}")
    steps = components(axes, memory.numpy.itemsize)
    if 0 not in memory.shape and any(
        n > 1 and has != step for n, has, step in zip(inner, memory.strides[outer:], steps)
    ):
        raise ValueError(f"the components of each {element.dtype!r} do not follow each other in memory")
    shape, strides = memory.shape[:outer] or (1,), memory.strides[:outer] or (element.size,)
    low, nbytes = spanned(shape, strides, element.size)
    device = None if memory.device.is_cpu else memory.device
    held = _native.Memory(memory.address + low, nbytes, device, memory.owner, memory.readonly)
    return Array(held, element, shape, strides, -low)


def _alike(has: np.dtype[Any], wants: np.dtype[Any]) -> bool:
    """Whether whole numbers of one size stand for each other, signed or not, and bools for those of one byte."""
    return has.kind in "iub" and wants.kind in "iub" and has.itemsize == wants.itemsize and has.isnative
