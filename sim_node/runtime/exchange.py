"""What an array shows other libraries, in place: DLPack and CUDA's array interface.

Both are of memory, so there is one row a scalar type here, and components are the last axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim_node import _native, dtypes
from sim_node.device.cuda import Cuda
from sim_node.device.names import DEFAULT, Device, get_device

if TYPE_CHECKING:
    from sim_node.runtime.array import Array

# DLPack's codes of devices: memory of the host, of a GPU, of the host and pinned, of both
HOST, GPU, PINNED, MANAGED = 1, 2, 3, 13
VERSION = (1, 0)  # of DLPack, since which read-only memory is told

# scalar type → DLPack's code of its kind, and its bits
TYPES: dict[dtypes.Scalar, tuple[int, int]] = {
    scalar: ({"i": 0, "u": 1, "f": 2, "b": 6}[scalar.kind.value], 8 * scalar.size) for scalar in dtypes.SCALARS
}

# CUDA's numbers of the stream that all wait for, and of a thread's own, where others are addresses
DEFAULT_STREAM, THREAD_STREAM = 1, 2


def device_number(device: Device) -> tuple[int, int]:
    """Tell a device as DLPack does."""
    return (GPU, device.ordinal) if isinstance(device, Cuda) else (HOST, 0)


def numbered(number: tuple[int, int]) -> Device:
    """Find the device that DLPack tells.

    Raises BufferError for one of a kind that has no arrays, DeviceError for a GPU that is not there.
    """
    kind, at = number
    if kind in (HOST, PINNED):
        return DEFAULT
    if kind in (GPU, MANAGED):
        return get_device(f"cuda:{at}")
    raise BufferError(f"memory of DLPack's device {kind}, number {at}: arrays are in the memory of the CPU or of a GPU")


def lend(
    array: Array,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """Lend an array's memory by DLPack, as the array API standard 2024.12 has it: what ``Array.__dlpack__`` is.

    Of a GPU the consumer's stream is made to wait for ours: an address, None or 1 for the default stream, 2 for a
    thread's own, -1 for none. Another ``dl_device`` gets a copy. A consumer that does not say ``max_version`` gets the
    capsule from before versions.
    Raises BufferError for structs, where only a copy would do and ``copy`` is False, and for read-only memory where the
    consumer cannot be told so; ValueError for what is no stream.
    """
    if not hasattr(array.dtype, "scalar"):
        raise BufferError(f"DLPack has no structs such as {array.dtype!r}; lend a field of it, or a view as numbers")
    wanted = array.device if dl_device is None else numbered((int(dl_device[0]), int(dl_device[1])))
    if copy is False and wanted is not array.device:
        raise BufferError(f"an array in the memory of {array.device} is in that of {wanted} only as a copy")
    moved = array.to(wanted)
    if copy and moved is array:
        moved = array._copied()
    versioned = max_version is not None and max_version[0] >= VERSION[0]
    if not moved.writeable and not versioned:
        raise BufferError("the array is read-only, and a consumer of DLPack before 1.0 cannot be told so; lend a copy")
    _show(wanted, stream)
    return _native.lend(moved, device_number(wanted), TYPES[array.dtype.scalar], versioned, moved is not array)


def to_dlpack(array: Array) -> object:
    """Make a capsule of DLPack of an array, Warp's word for ``array.__dlpack__()``; raises as that."""
    return array.__dlpack__()


def _show(device: Device, stream: Any) -> None:
    """Make a consumer's stream wait for what was asked of the device's; raises ValueError for what is no stream."""
    if not isinstance(device, Cuda):
        if stream not in (None, -1):
            raise ValueError(f"stream {stream!r}: memory of the CPU has none; pass None")
        return
    if stream is None:
        stream = DEFAULT_STREAM
    if not isinstance(stream, int) or isinstance(stream, bool) or stream < -1 or stream == 0:
        raise ValueError(
            f"stream {stream!r}: 0 could mean either default stream; pass 1 for the default one, 2 for a thread's, "
            "-1 to wait for nothing, or the address of a CUDA stream"
        )
    if stream != -1:
        device.lead(stream)


def interface(array: Array) -> dict[str, Any]:
    """Tell an array by CUDA's array interface, version 3; AttributeError where it is not in the memory of a GPU."""
    device = array.device
    if not isinstance(device, Cuda):
        raise AttributeError("__cuda_array_interface__ is of arrays in the memory of a GPU")
    element = array.element
    numpy = element.numpy
    steps = components(element.axes, numpy.itemsize)
    return {
        "shape": (*array.shape, *element.axes),
        "typestr": numpy.str,
        "descr": numpy.descr,
        "data": (array.ptr or 0, not array.writeable),
        "strides": None if array.is_contiguous else (*array.strides, *steps),
        "version": 3,
        "stream": int(device.stream),
    }


def components(axes: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Bytes from one component of an element to the next, along each of its axes; ``size`` is that of one."""
    steps: list[int] = []
    for extent in reversed(axes):
        steps.insert(0, size)
        size *= extent
    return tuple(steps)
