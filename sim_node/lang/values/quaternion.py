"""Quaternions of the host: x, y, z, and the real part w."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.lang.values.numbers import is_number, number
from sim_node.lang.values.value import Numpy
from sim_node.lang.values.vector import VectorValue, components, numbers, unnamed


class QuaternionValue(VectorValue):
    """A rotation, or any quaternion; ``*`` of two is their product."""

    __slots__ = ()

    @classmethod
    def _made(cls, *parts: Any, **named: Any) -> Numpy:
        """Make a quaternion: of nothing (zeros), four numbers, a sequence, or the imaginary parts and the real one."""
        type_ = cls._type
        unnamed(type_, named)
        if len(parts) == 2 and not is_number(parts[0]):
            return np.array([*numbers(parts[0], type_, 3), number(parts[1], type_.scalar)], type_.scalar.numpy)
        return components(type_, 4, *parts)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, QuaternionValue):
            return super().__mul__(other)
        return self._same("*", product, other, False)


def product(a: Numpy, b: Numpy) -> Numpy:
    """Multiply quaternions, in the order of terms of ``lang.library.rotation``."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    parts = (
        aw * bx + bw * ax + ay * bz - by * az,
        aw * by + bw * ay + az * bx - bz * ax,
        aw * bz + bw * az + ax * by - bx * ay,
        aw * bw - ax * bx - ay * by - az * bz,
    )
    return np.array(parts, a.dtype)
