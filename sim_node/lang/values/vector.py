"""Vectors of the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.dtypes import PYTHON
from sim_node.lang.values.numbers import is_number, number
from sim_node.lang.values.value import Numeric, Numpy, Value, memory_of, viewed

AXES = "xyzw"


class VectorValue(Numeric):
    """Numbers in a row; indices and slices as Python's, the first four also as ``x y z w``."""

    __slots__ = ()

    @classmethod
    def _made(cls, *parts: Any, **named: Any) -> Numpy:
        """Make a vector: ``vec3()``, ``vec3(s)``, ``vec3(x, y, z)``, ``vec3(sequence)``."""
        unnamed(cls._type, named)
        return components(cls._type, cls._type.length, *parts)

    def __getitem__(self, key: Any) -> Any:
        part = self._memory[_key(key)]
        return viewed(self._type.vector(len(part)), part.copy()) if isinstance(part, np.ndarray) else part

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a component, or those of a slice: to one number or as many."""
        key = _key(key)
        if isinstance(key, slice) and not is_number(value):
            self._memory[key] = numbers(value, self._type, self._memory[key].size)
        else:
            self._memory[key] = number(value, self.dtype)

    def __mod__(self, other: Any) -> Any:
        return self._same("%", _checked(np.remainder), other, False)

    def __floordiv__(self, other: Any) -> Any:
        return self._same("//", _checked(np.floor_divide), other, False)

    def __str__(self) -> str:
        return f"[{', '.join(str(part) for part in self._memory)}]"


def _key(key: Any) -> Any:
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return int(key)
    if isinstance(key, slice):
        return key
    raise TypeError(f"a vector is indexed by an integer or a slice, not {key!r}")


def _axis(at: int) -> property:
    def get(self: VectorValue) -> Any:
        if at >= len(self._memory):
            raise AttributeError(_lacking(self, AXES[at]))
        return self._memory[at]

    def set(self: VectorValue, value: Any) -> None:
        if at >= len(self._memory):
            raise AttributeError(_lacking(self, AXES[at]))
        self._memory[at] = number(value, self.dtype)

    return property(get, set, doc=f"Component {at}.")


def _lacking(value: VectorValue, name: str) -> str:
    return f"{value._type!r} has no '{name}'; its components are {', '.join(AXES[: len(value._memory)])}"


for _at, _name in enumerate(AXES):
    setattr(VectorValue, _name, _axis(_at))


def _checked(operate: Any) -> Any:
    """Refuse what integers have no quotient for: a divisor of 0, and the least number by -1."""

    def divide(a: Numpy, b: Numpy) -> Numpy:
        if a.dtype.kind in "iu" and not b.all():
            raise ZeroDivisionError("integer division by zero")
        if operate is np.floor_divide and a.dtype.kind == "i" and ((b == -1) & (a == np.iinfo(a.dtype).min)).any():
            raise OverflowError("integer overflow in a division")
        divided: Numpy = operate(a, b)
        return divided

    return divide


def numbers(values: Any, type: Any, count: int) -> Numpy:
    """Read a sequence of so many numbers in the scalar type. Raises TypeError or ValueError where it is none."""
    if isinstance(values, Value):  # which converts as kernels do: a float saturates where integers end
        values = [type.scalar(part) for part in memory_of(values).reshape(-1)]
    try:
        given = list(values)
    except TypeError:
        raise TypeError(f"{type!r} takes numbers, not a {values.__class__.__name__}") from None
    if len(given) != count:
        raise ValueError(f"{type!r}: {len(given)} numbers where {count} are needed")
    made = np.empty(count, type.scalar.numpy)
    for at, one in enumerate(given):
        made[at] = number(one, type.scalar)
    return made


def unnamed(type: Any, named: dict[str, Any]) -> None:
    """Refuse arguments by name, but for those that say what the type says already."""
    for name, value in named.items():
        told = PYTHON.get(value, value) if name == "dtype" else value
        if name not in ("shape", "length", "dtype") or told != getattr(type, name):
            raise TypeError(f"{type!r} takes numbers in their order, not '{name}' by name")


def components(type: Any, count: int, *parts: Any) -> Numpy:
    """Read what a constructor takes: nothing (zeros), one number for all, or numbers, also in one sequence."""
    if not parts:
        return np.zeros(count, type.scalar.numpy)
    if len(parts) == 1:
        if is_number(parts[0]):
            return np.full(count, number(parts[0], type.scalar), type.scalar.numpy)
        (parts,) = parts
    if hasattr(parts, "__len__") and len(parts) != count:
        raise ValueError(f"{type!r} takes 0, 1 or {count} numbers, not {len(parts)}")
    return numbers(parts, type, count)
