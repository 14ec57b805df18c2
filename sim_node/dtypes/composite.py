"""Types of several numbers of one scalar type, held by value: vectors, matrices, quaternions, transforms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sim_node.dtypes.scalar import Leaf, Scalar

# How Warp marks the scalar type in the name of a vector.
SUFFIXES = {
    "f16": "h", "f32": "f", "f64": "d", "i8": "b", "u8": "ub", "i16": "s", "u16": "us", "i32": "i", "u32": "u",
    "i64": "l", "u64": "ul", "bool": "bool",
}  # fmt: skip

# What makes a value of the host, by the class of its type; ``lang.values`` fills it, since types know no values.
MAKE: dict[type, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Composite:
    """Numbers of one scalar type, contiguous in memory, aligned as one of them; calling it gives a host's value.

    In the annotation of a func its parts may be left open.
    """

    scalar: Scalar
    # What the name begins with, and Warp's word for making such a type.
    stem: ClassVar[str]
    maker: ClassVar[str]

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of one element, as numpy shows them."""
        raise NotImplementedError

    @cached_property
    def length(self) -> int:
        """Numbers in one element."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> Scalar:
        """The scalar type of the numbers, by the name that their values have for it."""
        return self.scalar

    @cached_property
    def name(self) -> str:
        """Warp's name with its scalar suffix, such as ``vec3f``; with parts left open, how it is written."""
        if isinstance(self.scalar, Scalar) and all(isinstance(extent, int) for extent in self.shape):
            return f"{self.stem}{self._extents}{SUFFIXES[self.scalar.name]}"
        return f"{self.maker}({self._open}dtype={_part(self.scalar)})"

    @property
    def _extents(self) -> str:
        return ""

    @property
    def _open(self) -> str:
        """The extents as they are written where one is left open."""
        return ""

    @property
    def text(self) -> str:
        """How the IR writes the type."""
        return self.name

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype of one number."""
        return self.scalar.numpy

    @cached_property
    def size(self) -> int:
        """Bytes of one element in memory."""
        return self.scalar.size * self.length

    @property
    def align(self) -> int:
        """What the address of an element is a multiple of."""
        return self.scalar.align

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The numbers, in the order of memory."""
        return tuple(Leaf(self.scalar, i * self.scalar.size) for i in range(self.length))

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floating point."""
        return self.scalar.is_float

    @property
    def is_integer(self) -> bool:
        """Whether the numbers are integers."""
        return self.scalar.is_integer

    def vector(self, length: int) -> Vector:
        """The vector of so many of the same numbers."""
        return Vector(self.scalar, length)

    def matrix(self, rows: int, cols: int) -> Matrix:
        """The matrix of the same numbers."""
        return Matrix(self.scalar, rows, cols)

    @property
    def __name__(self) -> str:
        """The name, where classes have theirs."""
        return self.name

    def __instancecheck__(self, value: object) -> bool:
        return getattr(value, "_type", None) == self

    def __call__(self, *parts: Any, **named: Any) -> Any:
        """Make a value of the host; ``lang.values`` says of what."""
        return MAKE[type(self)](self, *parts, **named)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Vector(Composite):
    """A vector of ``length`` numbers."""

    length: int
    stem: ClassVar[str] = "vec"
    maker: ClassVar[str] = "vector"

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis."""
        return (self.length,)

    @property
    def _extents(self) -> str:
        return str(self.length)

    @property
    def _open(self) -> str:
        return f"length={_part(self.length)}, "


@dataclass(frozen=True, repr=False)
class Matrix(Composite):
    """A matrix of ``rows`` times ``cols`` numbers, row by row in memory."""

    rows: int
    cols: int
    stem: ClassVar[str] = "mat"
    maker: ClassVar[str] = "matrix"

    @property
    def shape(self) -> tuple[int, ...]:
        """Two axes."""
        return (self.rows, self.cols)

    @property
    def _extents(self) -> str:
        return f"{self.rows}{self.cols}" if max(self.shape) < 10 else f"{self.rows}x{self.cols}"

    @property
    def _open(self) -> str:
        return f"shape=({_part(self.rows)}, {_part(self.cols)}), "


@dataclass(frozen=True, repr=False)
class Quaternion(Composite):
    """A quaternion: x, y, z, and the real part w."""

    stem: ClassVar[str] = "quat"
    maker: ClassVar[str] = "quaternion"

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis of four."""
        return (4,)


@dataclass(frozen=True, repr=False)
class Transform(Composite):
    """A translation p and a rotation q, a quaternion: seven numbers."""

    stem: ClassVar[str] = "transform"
    maker: ClassVar[str] = "transformation"

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis of seven."""
        return (7,)


def _part(part: object) -> str:
    """A part of a type as it is written: ``Any`` where it is left open."""
    return "Any" if part is Any else repr(part)
