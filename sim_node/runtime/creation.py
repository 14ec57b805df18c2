"""Ways to make an array: of data, of an address, of one value, like another; and copies between arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device.names import Device, get_device
from sim_node.runtime import values
from sim_node.runtime.array import Array, Numpy, allocate, wrap
from sim_node.runtime.element import native
from sim_node.runtime.exchange import components
from sim_node.runtime.foreign import adopt, on_gpu
from sim_node.runtime.indexed import IndexedArray
from sim_node.runtime.view import Shape, extents, spanned

Where = str | Device | None

# Options of Warp's that mean nothing here: there are no gradients, and no GPU that pinned memory is copied to.
WARP = frozenset({"requires_grad", "retain_grad", "pinned"})


def _accept(function: str, warp: dict[str, object]) -> None:
    """Let options of Warp's pass; raises TypeError for any other."""
    for name in warp:
        if name not in WARP:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")


def array(
    data: Any = None,
    dtype: Any = None,
    shape: Shape | None = None,
    strides: tuple[int, ...] | None = None,
    *,
    ptr: int | None = None,
    copy: bool = True,
    device: Where = None,
    **warp: object,
) -> Array:
    """Make an array of data, at an address, or of a shape alone, as ``empty``.

    Data are copied; with ``copy=False`` a numpy array shares its memory where dtype and alignment fit, strides
    included, and so does what another library has in the memory of the same GPU. Data for a composite dtype has the
    components as last axes: shape (n, 3) for ``vec3``; structs are a list of instances or tuples, or a structured numpy
    array of the struct's own dtype. Without dtype the data's own is taken, and for Python numbers f32, i32 or bool.
    ``shape`` reshapes data. ``ptr`` is the address of memory that the caller keeps, of elements of ``dtype`` in
    ``shape`` and ``strides`` (bytes; C order if none are given).
    Raises TypeError or ValueError when the values do not fit, DeviceError for an unknown device.
    """
    _accept("array", warp)
    if ptr is not None:
        if data is not None or dtype is None or shape is None:
            raise TypeError("array(ptr=…) needs dtype and shape, and takes no data")
        return _at(ptr, dtype, shape, strides, device)
    if strides is not None:
        raise TypeError("strides go with ptr; data has its own")
    if data is None:
        if shape is None:
            raise TypeError("array() needs data, a shape, or an address")
        return empty(shape, float if dtype is None else dtype, device)
    made = _of(data, dtype, copy, device)
    return made if shape is None else made.contiguous().reshape(shape)


def _of(data: Any, dtype: Any, copy: bool, device: Where) -> Array:
    if dtype is Any:
        dtype = None
    if on_gpu(data):
        shared, _ = adopt(data, None if dtype is None else dtypes.element(dtype))
        moved = shared.to(get_device(device))
        return clone(moved) if copy and moved is shared else moved
    if isinstance(data, (Array, IndexedArray)) and dtype is None:
        dtype = data.dtype
    element = dtypes.element(values.dtype_of(data) if dtype is None else dtype)
    axes = native(element).axes
    given, kept = values.many(data, element, get_device(device))
    outer = given.ndim - len(axes)
    inner = math.prod(axes) * given.itemsize
    whole = given.size == 0 or all(
        step == inner // math.prod(axes[: i + 1]) for i, step in enumerate(given.strides[outer:])
    )
    if copy or not whole or not given.flags.aligned or get_device(device).is_cuda:
        made = allocate(given.shape[:outer], element, device)
        with made.written(whole=True) as memory:
            memory[...] = given
    else:
        made = wrap(given, element, extents(given.shape[:outer]), given.strides[:outer])
    made._keep(kept)
    return made


def _at(ptr: int, dtype: Any, shape: Shape, strides: tuple[int, ...] | None, device: Where) -> Array:
    """Make an array over memory that is only known by its address."""
    place = get_device(device)
    element, counts = dtypes.element(dtype), extents(shape)
    size = native(element).size
    steps = strides or components(counts, size)
    low, nbytes = spanned(counts, steps, size)
    memory = _native.Memory(ptr + low, nbytes, None if place.is_cpu else place)
    return Array(memory, native(element), counts, steps, -low)


def from_numpy(
    data: Numpy, dtype: Any = None, shape: Shape | None = None, device: Where = None, **warp: object
) -> Array:
    """Make an array of a copy of a numpy array; as ``sn.array(data, dtype, shape)``."""
    _accept("from_numpy", warp)
    if not isinstance(data, np.ndarray):
        raise TypeError(f"from_numpy takes a numpy array, not {type(data).__name__}; sn.array takes any values")
    return array(data, dtype, shape, device=device)


def zeros(
    shape: Shape | None = None,
    dtype: Any = float,
    device: Where = None,
    *,
    n: int | None = None,
    strides: Sequence[int] | None = None,
    **warp: object,
) -> Array:
    """Make an array of zeros, its memory aligned to 64 bytes; ``strides`` (bytes) where it is not in C order.

    ``n`` is Warp's older word for a shape of one dimension.
    Raises TypeError where there is no shape, ValueError or NotImplementedError for strides that do not fit it or are
    negative.
    """
    _accept("zeros", warp)
    shape = n if shape is None else shape
    if shape is None:
        raise TypeError("zeros() needs a shape")
    return allocate(shape, dtype, device, True, strides)


def empty(
    shape: Shape, dtype: Any = float, device: Where = None, *, strides: Sequence[int] | None = None, **warp: object
) -> Array:
    """Make an array whose values are whatever the memory held, aligned to 64 bytes; strides and errors as ``zeros``."""
    _accept("empty", warp)
    return allocate(shape, dtype, device, False, strides)


def full(shape: Shape, value: Any = 0, dtype: Any = None, device: Where = None, **warp: object) -> Array:
    """Make an array of one value: a number, for composites also their components, for structs an instance or 0.

    Without dtype the value's own is taken: f32, i32 or bool for Python's numbers, a vector or matrix for rows of them.
    Raises TypeError or ValueError when the value does not fit.
    """
    _accept("full", warp)
    made = empty(shape, values.dtype_of_one(value) if dtype is None else dtype, device)
    made.fill_(value)
    return made


def ones(shape: Shape, dtype: Any = float, device: Where = None, **warp: object) -> Array:
    """Make an array of ones."""
    _accept("ones", warp)
    return full(shape, True, dtype, device)


def zeros_like(src: Array | IndexedArray, device: Where = None, **warp: object) -> Array:
    """Make a contiguous array of zeros with the shape and dtype of another."""
    _accept("zeros_like", warp)
    return zeros(src.shape, src.dtype, device or src.device)


def empty_like(src: Array | IndexedArray, device: Where = None, **warp: object) -> Array:
    """Make a contiguous array of whatever the memory held with the shape and dtype of another."""
    _accept("empty_like", warp)
    return empty(src.shape, src.dtype, device or src.device)


def full_like(src: Array | IndexedArray, value: Any, device: Where = None, **warp: object) -> Array:
    """Make a contiguous array of one value with the shape and dtype of another; as ``sn.full``."""
    _accept("full_like", warp)
    return full(src.shape, value, src.dtype, device or src.device)


def ones_like(src: Array | IndexedArray, device: Where = None, **warp: object) -> Array:
    """Make a contiguous array of ones with the shape and dtype of another."""
    _accept("ones_like", warp)
    return ones(src.shape, src.dtype, device or src.device)


def clone(src: Array | IndexedArray, device: Where = None, **warp: object) -> Array:
    """Make a contiguous copy of an array."""
    _accept("clone", warp)
    made = empty_like(src, device)
    copy(made, src)
    return made


def copy(
    dest: Array | IndexedArray, src: Array | IndexedArray, dest_offset: int = 0, src_offset: int = 0, count: int = 0
) -> None:
    """Copy elements from one array to another of the same dtype; 0 for the count is all of the source.

    Offsets and count are in elements, in row-major order; they need arrays of one dimension or contiguous ones, and so
    do arrays of different shapes. Arrays may overlap.
    Raises TypeError where the dtypes differ, ValueError where the elements are not there.
    """
    for given in (dest, src):
        if not isinstance(given, (Array, IndexedArray)):
            raise TypeError(f"copy takes two arrays, not {type(given).__name__}; array.assign takes any values")
    if dest.dtype != src.dtype:
        raise TypeError(f"cannot copy elements of {src.dtype!r} to an array of {dest.dtype!r}")
    if not (dest_offset or src_offset or count) and dest.shape == src.shape:
        dest.assign(src)
        return
    count = count or src.size
    _run("dest", dest, dest_offset, count).assign(_run("src", src, src_offset, count))


def _run(name: str, array: Array | IndexedArray, offset: int, count: int) -> Array | IndexedArray:
    """So many elements of an array in row-major order."""
    if array.ndim > 1 and not array.is_contiguous:
        raise ValueError(f"{name} has strides and {array.ndim} dimensions: copy all of it to an array of its shape")
    if offset < 0 or count < 0 or offset + count > array.size:
        raise ValueError(f"elements {offset} to {offset + count} are not all in {name}, which has {array.size}")
    flat = array.flatten() if array.ndim > 1 and isinstance(array, Array) else array
    part: Array | IndexedArray = flat[offset : offset + count]
    return part
