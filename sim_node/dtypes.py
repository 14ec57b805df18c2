"""The types of the kernel language, each also a constructor of its host value.

Names follow NVIDIA Warp (``float32 int32 vec3 vec2d``); the short names (``f32 i32 vec3f``) are how types print.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np


class Kind(Enum):
    """What a scalar's bits mean."""

    __hash__ = object.__hash__  # Enum's own is Python code, and the compiler looks types up all the time

    BOOL = "b"
    INT = "i"
    UINT = "u"
    FLOAT = "f"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar type; calling it converts a Python number to the numpy scalar of that type."""

    name: str
    kind: Kind
    bits: int
    code: int

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype of one element."""
        return np.dtype("?") if self.kind is Kind.BOOL else np.dtype(f"{self.kind.value}{self.bits // 8}")

    @property
    def size(self) -> int:
        """Bytes of one element in memory."""
        return max(self.bits // 8, 1)

    @property
    def scalar(self) -> Scalar:
        """The scalar type that the element is made of: itself."""
        return self

    @property
    def length(self) -> int:
        """Components of one element: 1."""
        return 1

    @property
    def is_float(self) -> bool:
        """Whether values are floating point."""
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        """Whether values are integers (bool is not)."""
        return self.kind in (Kind.INT, Kind.UINT)

    def __call__(self, value: Any = 0) -> Any:
        """Convert a number to the numpy scalar of this type: a float saturates where integers end, NaN becomes 0."""
        if self.is_integer and isinstance(value, (float, np.floating)):
            limits = np.iinfo(self.numpy)
            whole = (
                int(value) if np.isfinite(value) else 0 if np.isnan(value) else limits.max if value > 0 else limits.min
            )
            value = min(max(whole, limits.min), limits.max)
        return self.numpy.type(value)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Vector:
    """A short vector held by value: ``length`` scalars, contiguous in memory, aligned as its scalar."""

    scalar: Scalar
    length: int

    @property
    def name(self) -> str:
        """Warp's name with its scalar suffix, such as ``vec3f``."""
        return f"vec{self.length}{SUFFIXES[self.scalar.name]}"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype of one component."""
        return self.scalar.numpy

    @property
    def size(self) -> int:
        """Bytes of one element in memory."""
        return self.scalar.size * self.length

    @property
    def is_float(self) -> bool:
        """Whether components are floating point."""
        return self.scalar.is_float

    @property
    def is_integer(self) -> bool:
        """Whether components are integers."""
        return self.scalar.is_integer

    def vector(self, length: int) -> Vector:
        """The vector type of another length and the same scalar."""
        return Vector(self.scalar, length)

    def __call__(self, *components: Any) -> Any:
        """Make the host's value, of 0, 1 (splatted) or ``length`` components, or of one sequence (``lang.values``)."""
        return MAKE[Vector](self, *components)

    def __repr__(self) -> str:
        return self.name


# What makes the host's value of a composite type, by the kind of type: ``lang.values`` fills it, a layer above.
MAKE: dict[type, Callable[..., Any]] = {}


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of elements in device memory, as a kernel parameter; its layout is one of LAYOUTS."""

    dtype: Element
    ndim: int = 1
    layout: str = "contiguous"

    def __repr__(self) -> str:
        parts = [repr(self.dtype), *([str(self.ndim)] if self.ndim > 1 else [])]
        return f"array<{', '.join(parts + [self.layout] * (self.layout != LAYOUTS[0]))}>"


LAYOUTS = ("contiguous", "strided", "indexed")  # by their code, which C stores


Element = Scalar | Vector
Type = Scalar | Vector | ArrayType


@dataclass(frozen=True, slots=True)
class Tuple:
    """What a call of a func with several results gives: it is taken apart at once."""

    items: tuple[Type, ...]

    def __repr__(self) -> str:
        return f"tuple<{', '.join(map(repr, self.items))}>"


# How Warp marks the scalar type in the name of a vector.
SUFFIXES = {"f32": "f", "f64": "d", "i32": "i", "u32": "u", "i64": "l", "u64": "ul", "bool": "b"}

# The code is what the native side and files store: never renumber, only append.
bool_ = Scalar("bool", Kind.BOOL, 1, 0)
int32 = Scalar("i32", Kind.INT, 32, 1)
uint32 = Scalar("u32", Kind.UINT, 32, 2)
int64 = Scalar("i64", Kind.INT, 64, 3)
uint64 = Scalar("u64", Kind.UINT, 64, 4)
float32 = Scalar("f32", Kind.FLOAT, 32, 5)
float64 = Scalar("f64", Kind.FLOAT, 64, 6)

SCALARS: tuple[Scalar, ...] = (bool_, int32, uint32, int64, uint64, float32, float64)

vec2 = vec2f = Vector(float32, 2)
vec3 = vec3f = Vector(float32, 3)
vec4 = vec4f = Vector(float32, 4)
vec2d, vec3d, vec4d = (Vector(float64, n) for n in (2, 3, 4))
vec2i, vec3i, vec4i = (Vector(int32, n) for n in (2, 3, 4))
vec2u, vec3u, vec4u = (Vector(uint32, n) for n in (2, 3, 4))

VECTORS: tuple[Vector, ...] = tuple(
    Vector(scalar, length) for scalar in (float32, float64, int32, uint32, int64, uint64) for length in (2, 3, 4)
)
_ALL: tuple[Element, ...] = (*SCALARS, *VECTORS)
ELEMENTS: dict[str, Element] = {t.name: t for t in _ALL}

# What a Python annotation or conversion means in a kernel, as Warp has it.
PYTHON: dict[type, Scalar] = {bool: bool_, int: int32, float: float32}


def element(spec: object) -> Element:
    """Resolve a dtype given as one of ours, a Python type, a numpy dtype or a name.

    Raises TypeError naming what is accepted.
    """
    if isinstance(spec, (Scalar, Vector)):
        return spec
    if isinstance(spec, type) and spec in PYTHON:
        return PYTHON[spec]
    if isinstance(spec, str) and spec in ELEMENTS:
        return ELEMENTS[spec]
    try:
        wanted = np.dtype(spec)  # type: ignore[call-overload]
    except TypeError:
        wanted = None
    for scalar in SCALARS:
        if wanted is not None and scalar.numpy == wanted:
            return scalar
    raise TypeError(f"{spec!r} is not a dtype of the kernel language; use one of {', '.join(ELEMENTS)}")


def dtype_from_numpy(spec: object) -> Element:
    """Look up the type of a numpy dtype or of a numpy scalar's class.

    Raises TypeError naming what is accepted.
    """
    return element(np.dtype(spec))  # type: ignore[call-overload]


def dtype_to_numpy(spec: object) -> np.dtype[Any]:
    """Look up the numpy dtype of one scalar of a type.

    Raises TypeError naming what is accepted.
    """
    return element(spec).numpy
