"""A field in the memory of a GPU, as CuPy, numba, torch and launches of ours take it."""

from __future__ import annotations

from typing import Any, NoReturn

from sim_node import _native, dtypes
from sim_node.device.cuda import Cuda
from sim_node.layout import Field, Layout

GPU = 2  # DLPack's code of the memory of a GPU
VERSION = (1, 0)  # of DLPack, since which read-only memory is told
DEFAULT_STREAM = 1  # CUDA's number of the stream that libraries use unless they are told otherwise
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's, by the kind of scalar


class DeviceArray:
    """A field of one slot, read-only, in C order: CUDA's array interface and DLPack; a launch takes it as it is.

    It shows the tick for as long as that is held, and keeps the memory mapped for as long as it lives. Work on the
    device's stream, on the default one, and on a stream that DLPack's consumer names begins when the slot is written.
    Attributes: ``field``, ``device``, ``ptr`` (address), ``shape`` (a vector's components are the last axes), ``dtype``
    (numpy's, of a component).
    """

    __slots__ = ("_memory", "device", "dtype", "field", "ptr", "shape")

    def __init__(self, field: Field, device: Cuda, address: int, owner: object) -> None:
        self.field, self.device, self.ptr = field, device, address
        self.shape, self.dtype = field.numpy_shape, field.element.numpy
        self._memory = _native.Memory(address, field.nbytes, device, owner, True)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.ptr if self.field.nbytes else 0, True),
            "strides": None,
            "version": 3,
            "stream": int(self.device.stream),
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return GPU, self.device.ordinal

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Lend the memory by DLPack; the consumer's stream (None or 1: the default one, -1: none) waits for the slot.

        Raises BufferError for a copy, for another device, for a field of more than four axes, and for a consumer from
        before DLPack 1.0, which cannot be told that the memory is read-only.
        """
        if copy or (dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__()):
            raise BufferError(f"'{self.field.name}' is lent where it is, on {self.device}; tick.fetch copies it")
        if max_version is None or max_version[0] < VERSION[0]:
            raise BufferError(
                f"'{self.field.name}' is read-only, and a consumer of DLPack before 1.0 cannot be told so; take it by "
                "__cuda_array_interface__, or tick.fetch it"
            )
        if stream != -1:
            self.device.lead(DEFAULT_STREAM if stream is None else stream)
        element = self.field.element
        scalar = element if isinstance(element, dtypes.Scalar) else element.scalar
        if len(self.field.shape) > _native.MAX_NDIM:
            raise BufferError(
                f"'{self.field.name}' has {len(self.field.shape)} axes; {_native.MAX_NDIM} are lent at most"
            )
        kind = _native.Element(element, scalar.code, element.size, scalar.size, element.shape, (), self.dtype, b"")
        lent = _native.Array(self._memory, kind, self.field.shape or (1,))
        code = _CODES[scalar.kind.value], 8 * scalar.size
        return _native.lend(lent, self.__dlpack_device__(), code, True, False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"'{self.field.name}' is in the memory of {self.device}; tick.fetch('{self.field.name}') copies it"
        )

    def __repr__(self) -> str:
        return f"<{self.field.name}: {self.dtype} {self.shape} on {self.device}>"


def device_arrays(layout: Layout, device: Cuda, address: int, owner: object) -> dict[str, DeviceArray]:
    """View each field of a layout at an address of a GPU's; the owner lives as long as any of them."""
    return {field.name: DeviceArray(field, device, address + field.offset, owner) for field in layout}
