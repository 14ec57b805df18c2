"""What every composite value of the host is: a type, and the memory of one element of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from sim_node.dtypes import Scalar
from sim_node.lang.values.numbers import is_number, operand

Numpy = np.ndarray[Any, Any]

# The class of the values of each kind of composite type, which the package fills, and of each type.
KINDS: dict[type, type[Value]] = {}
_classes: dict[Any, type[Value]] = {}


class Value:
    """A value of a composite type, on the host. Assigning a part of it changes this value only.

    It shows numpy its memory: ``numpy.asarray(value)`` is no copy. Each type has a class of its own: ``type(v)(…)``
    makes another value of that type, as it does in a kernel.
    """

    __slots__ = ("_memory",)
    __array_priority__ = 1000.0  # numpy's scalars and arrays leave operators to these classes
    __hash__ = None  # type: ignore[assignment]

    _memory: Numpy
    _type: ClassVar[Any]

    def __init__(self, *parts: Any, **named: Any) -> None:
        object.__setattr__(self, "_memory", self._made(*parts, **named))

    @classmethod
    def _made(cls, *parts: Any, **named: Any) -> Numpy:
        """Make the memory of what a constructor takes."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numpy:
        """The memory; as another dtype or where a copy is asked for, a copy."""
        if dtype is not None and np.dtype(dtype) != self._memory.dtype:
            return self._memory.astype(dtype)
        return self._memory.copy() if copy else self._memory

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory.__array_interface__

    def __copy__(self) -> Any:
        return viewed(self._type, self._memory.copy())

    def __deepcopy__(self, _: object) -> Any:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return viewed, (self._type, self._memory.copy())


def type_of(value: Value) -> Any:
    """Give the type of a composite value."""
    return value._type


def class_of(type_: Any) -> type[Value]:
    """Give the class of a composite type's values."""
    known = _classes.get(type_)
    if known is None:
        own = {"__slots__": (), "_type": type_, "__module__": __name__}
        known = _classes[type_] = type(type_.name, (KINDS[type(type_)],), own)
    return known


def viewed(type_: Any, memory: Numpy) -> Any:
    """Show memory that holds one element of a composite type as a value that writes through to it."""
    cls = class_of(type_)
    value = cls.__new__(cls)
    object.__setattr__(value, "_memory", memory)
    return value


def canonical(memory: Numpy) -> Numpy:
    """Give the memory with each NaN as the canonical one."""
    if memory.dtype.names is not None:
        memory = memory.copy()
        for name in memory.dtype.names:
            memory[name] = canonical(memory[name])
        return memory
    if memory.dtype.kind != "f" or not (lost := np.isnan(memory)).any():
        return memory
    return np.where(lost, memory.dtype.type(np.nan), memory)


def memory_of(value: Value) -> Numpy:
    """Give the memory of a composite value; writing into it changes the value."""
    return value._memory


class Numeric(Value):
    """A value whose parts are of one scalar type; sums, and products with its scalar, go part by part."""

    __slots__ = ()

    @property
    def dtype(self) -> Scalar:
        """The scalar type of the parts."""
        scalar: Scalar = self._type.scalar
        return scalar

    @property
    def shape(self) -> tuple[int, ...]:
        """How many parts there are in each dimension."""
        return tuple(self._memory.shape)

    @property
    def length(self) -> int:
        """How many parts there are in all."""
        return self._memory.size

    def _of(self, memory: Numpy) -> Any:
        """A value of the same type with other parts."""
        return viewed(self._type, memory)

    def _apply(self, symbol: str, operate: Callable[..., Numpy], *operands: Any) -> Any:
        """Compute part by part; an integer division with no result raises ZeroDivisionError or OverflowError."""
        name = repr(self._type)
        parts = [
            memory_of(one) if isinstance(one, Value) else operand(one, self.dtype, symbol, name) for one in operands
        ]
        with np.errstate(all="ignore"):
            return self._of(operate(*parts))

    def _same(self, symbol: str, operate: Callable[..., Numpy], other: Any, swapped: bool) -> Any:
        """An operation of two values of one type."""
        if isinstance(other, np.ndarray) and other.ndim:
            pair = (other, self._memory) if swapped else (self._memory, other)
            return operate(*pair)
        if not isinstance(other, Value) or other._type != self._type:
            raise TypeError(f"'{symbol}' mixes {self._type!r} and {_named(other)}")
        return self._apply(symbol, operate, *((other, self) if swapped else (self, other)))

    def _scaled(self, symbol: str, operate: Callable[..., Numpy], other: Any, swapped: bool) -> Any:
        """An operation of a value and a number of its scalar type."""
        if isinstance(other, np.ndarray) and other.ndim:
            pair = (other, self._memory) if swapped else (self._memory, other)
            return operate(*pair)
        if not is_number(other):
            if isinstance(other, Numeric) and self._memory.ndim < other._memory.ndim and not swapped:
                return NotImplemented  # a row by a matrix, which knows how
            raise TypeError(f"'{symbol}' is not defined for {self._type!r} and {_named(other)}")
        return self._apply(symbol, operate, *((other, self) if swapped else (self, other)))

    def _divided(self, other: Any, swapped: bool) -> Any:
        if not self.dtype.is_float:
            raise TypeError(f"'/' does not take {self._type!r}: integers are divided by //, which rounds down")
        return self._scaled("/", np.divide, other, swapped)

    def __add__(self, other: Any) -> Any:
        return self._same("+", np.add, other, False)

    def __radd__(self, other: Any) -> Any:
        return self._same("+", np.add, other, True)

    def __sub__(self, other: Any) -> Any:
        return self._same("-", np.subtract, other, False)

    def __rsub__(self, other: Any) -> Any:
        return self._same("-", np.subtract, other, True)

    def __mul__(self, other: Any) -> Any:
        return self._scaled("*", np.multiply, other, False)

    def __rmul__(self, other: Any) -> Any:
        return self._scaled("*", np.multiply, other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._divided(other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._divided(other, True)

    def __neg__(self) -> Any:
        return self._apply("-", np.negative, self)

    def __pos__(self) -> Any:
        return self._of(self._memory.copy())

    def __eq__(self, other: object) -> bool:
        """Whether all parts are equal; a sequence of as many numbers is compared too."""
        try:
            parts = np.asarray(other)
        except (TypeError, ValueError):
            return False
        return parts.shape == self._memory.shape and bool((self._memory == parts).all())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __len__(self) -> int:
        return len(self._memory)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self._memory)))

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self._type!r}({self})"


def _named(value: Any) -> str:
    if isinstance(value, Value):
        return repr(type_of(value))
    return str(value.dtype) if isinstance(value, np.generic) else f"a {type(value).__name__}"
