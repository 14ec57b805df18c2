"""Rigid transforms of the host: a position p, and a rotation q."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.dtypes import Quaternion
from sim_node.lang.values import quaternion
from sim_node.lang.values.numbers import is_number
from sim_node.lang.values.value import Numpy, type_of, viewed
from sim_node.lang.values.vector import VectorValue, components, numbers


class TransformValue(VectorValue):
    """Seven numbers, also as ``p`` and ``q``; ``*`` of two turns and moves by the right one first."""

    __slots__ = ()

    @classmethod
    def _made(cls, *parts: Any, **named: Any) -> Numpy:
        """Make a transform: of nothing (the identity), p and q, p alone, seven numbers, or one for all."""
        type_ = cls._type
        if len(parts) == 1 and not (is_number(parts[0]) or hasattr(parts[0], "__len__")):
            got = type(parts[0]).__name__
            raise TypeError(f"Invalid argument in transformation constructor: expected a scalar value, got {got}")
        alone = len(parts) == 1 and not is_number(parts[0]) and len(parts[0]) == 3
        if not (named or alone or len(parts) == 2):
            return components(type_, 7, *parts) if parts else np.array([0, 0, 0, 0, 0, 0, 1], type_.scalar.numpy)
        given = dict(zip("pq", parts))
        for name in named:
            if name not in ("p", "q"):
                raise TypeError(f"got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"multiple values for argument '{name}'")
        if len(parts) > 2:
            raise TypeError(f"{type_!r} takes p and q, or {type_.length} numbers, not {len(parts)} values and names")
        given |= named
        for name, value in given.items():
            if not hasattr(value, "__len__"):
                got = f"expected a sequence, got {type(value).__name__}"
                raise TypeError(f"Invalid argument '{name}' in transformation constructor: {got}")
        return np.concatenate(
            (numbers(given.get("p", (0,) * 3), type_, 3), numbers(given.get("q", (0, 0, 0, 1)), type_, 4))
        )

    @property
    def p(self) -> Any:
        """The position."""
        return viewed(self._type.vector(3), self._memory[:3].copy())

    @p.setter
    def p(self, value: Any) -> None:
        self._memory[:3] = numbers(value, self._type, 3)

    @property
    def q(self) -> Any:
        """The rotation."""
        return viewed(Quaternion(self.dtype), self._memory[3:].copy())

    @q.setter
    def q(self, value: Any) -> None:
        self._memory[3:] = numbers(value, self._type, 4)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, TransformValue):
            return super().__mul__(other)
        return self._same("*", product, other, False)


def _no_axis(name: str) -> property:
    def get(self: TransformValue) -> Any:
        raise AttributeError(f"{type_of(self)!r} has no '{name}'; its parts are p and q")

    return property(get, get)  # type: ignore[arg-type]


for _name in "xyzw":
    setattr(TransformValue, _name, _no_axis(_name))


def product(a: Numpy, b: Numpy) -> Numpy:
    """Compose transforms: b first, then a."""
    return np.concatenate((rotated(a[3:], b[:3]) + a[:3], quaternion.product(a[3:], b[3:])))


def rotated(q: Numpy, v: Numpy) -> Numpy:
    """Turn a vector by a quaternion of length 1, in the order of terms of ``lang.library.rotation``."""
    two, one = q.dtype.type(2), q.dtype.type(1)
    axis, w = q[:3], q[3]
    c = two * w * w - one
    d = two * (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2])
    cross = axis[[1, 2, 0]] * v[[2, 0, 1]] - axis[[2, 0, 1]] * v[[1, 2, 0]]
    turned: Numpy = v * c + axis * d + cross * (two * w)
    return turned
