"""What ``sn.array`` and its kin are: called they make an array, subscripted they annotate a kernel's parameter."""

from __future__ import annotations

from typing import Any, get_args

from sim_node import dtypes
from sim_node.lang.annotation import is_open
from sim_node.runtime import creation
from sim_node.runtime.array import Array
from sim_node.runtime.indexed import IndexedArray


class Maker:
    """What annotates array parameters of ``ndim`` dimensions, or of any, in one layout."""

    layout = dtypes.LAYOUTS[0]

    def __init__(self, name: str, ndim: int | None = None) -> None:
        self.__name__ = name
        self.ndim = ndim

    def __getitem__(self, wanted: object) -> dtypes.ArrayType:
        """Annotate: a dtype, and for ``sn.array`` also a number of dimensions, plain, as ``Literal``, or ``Any``.

        Raises TypeError or ValueError for anything else.
        """
        if not isinstance(wanted, tuple):
            return self._annotation(wanted, None)
        if self.ndim is not None:
            raise TypeError(f"sn.{self.__name__}[…] takes a single type parameter, its dtype, not {wanted!r}")
        if len(wanted) != 2:
            raise TypeError(f"sn.{self.__name__}[…] takes a dtype and a number of dimensions, not {wanted!r}")
        dtype, ndim = wanted
        values = get_args(ndim) or (ndim,)  # those of a Literal
        if len(values) != 1:
            raise TypeError(f"Expected a single Literal value, not {ndim}")
        return self._annotation(dtype, values[0])

    def _annotation(self, dtype: object, ndim: object) -> dtypes.ArrayType:
        dimensions: Any = self.ndim or 1 if ndim is None else ndim
        if dimensions is Any and self.ndim is None:  # the launch says
            element: Any = dtype if is_open(dtype) else dtypes.element(dtype)
            return dtypes.ArrayType(element, dimensions, self.layout)  # type: ignore[arg-type]
        if not isinstance(dimensions, int) or not 1 <= dimensions <= 4 or (self.ndim or dimensions) != dimensions:
            raise ValueError(f"sn.{self.__name__}: ndim must be between 1 and 4, not {ndim!r}")
        try:
            return dtypes.ArrayType(dtypes.element(dtype), dimensions, self.layout)
        except TypeError:
            return dtypes.ArrayType(dtype, dimensions, self.layout)  # type: ignore[arg-type]  # the build says what is wrong

    def __repr__(self) -> str:
        return f"<sn.{self.__name__}>"


class ArrayMaker(Maker):
    """Makes arrays, annotations of array parameters, and is what arrays are instances of, all of ``ndim`` dimensions.

    ``sn.array[sn.vec3]``, ``sn.array[float, Literal[2]]`` and ``sn.array2d[float]`` say the same as
    ``sn.array(dtype=sn.vec3)``, ``sn.array(dtype=float, ndim=2)`` and ``sn.array2d(dtype=float)``. Whether a dtype is
    one is judged where the annotation is used.
    """

    def __call__(self, data: Any = None, dtype: object = None, *, ndim: int | None = None, **options: Any) -> Any:
        """Make an array of data, see ``sim_node.runtime.creation.array``, or with no data an annotation.

        Raises TypeError or ValueError when the values do not fit, DeviceError for an unknown device.
        """
        if data is None and not options:
            if dtype is None:
                raise TypeError(
                    f"{self.__name__}() needs data, or as an annotation a dtype: sn.array(dtype=sn.float32)"
                )
            return self._annotation(dtype, ndim)
        made = creation.array(data, dtype, **options)
        wanted = self.ndim if ndim is None else ndim
        if wanted not in (None, made.ndim):
            raise ValueError(f"{self.__name__} of {wanted} dimensions: the data has {made.ndim}, shape {made.shape}")
        return made

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Array) and self.ndim in (None, value.ndim)


class IndexedMaker(Maker):
    """Makes indexed arrays, ``sn.indexedarray(array, indices)``, and annotates them, ``sn.indexedarray[float]``."""

    layout = dtypes.LAYOUTS[2]

    def __call__(self, array: Any = None, indices: Any = None, dtype: object = None, ndim: int | None = None) -> Any:
        """Choose elements of an array by a list of indices, or by one or None a dimension; without one, annotate.

        Raises IndexError for an index outside its dimension, TypeError or ValueError where the array is another.
        """
        if array is None:
            return self._annotation(float if dtype is None else dtype, ndim)
        if not isinstance(array, Array):
            raise TypeError(f"{self.__name__} chooses elements of an sn.array, not of a {type(array).__name__}")
        if dtype is not None and dtypes.element(dtype) != array.dtype:
            raise ValueError(f"{self.__name__} of {dtypes.element(dtype)!r}: the array is of {array.dtype!r}")
        wanted = self.ndim if ndim is None else ndim
        if wanted not in (None, array.ndim):
            raise ValueError(f"{self.__name__} of {wanted} dimensions: the array has {array.ndim}, shape {array.shape}")
        return IndexedArray(array, () if indices is None else indices)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, IndexedArray) and self.ndim in (None, value.ndim)


array = ArrayMaker("array")
array1d, array2d, array3d, array4d = (ArrayMaker(f"array{ndim}d", ndim) for ndim in (1, 2, 3, 4))
indexedarray = IndexedMaker("indexedarray")
indexedarray1d, indexedarray2d, indexedarray3d, indexedarray4d = (
    IndexedMaker(f"indexedarray{ndim}d", ndim) for ndim in (1, 2, 3, 4)
)
