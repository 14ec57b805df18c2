"""Scalar types, and the leaves that every type is made of."""

from __future__ import annotations

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
    POINTER = "p"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar inside a type, and the byte where it lies."""

    scalar: Scalar
    offset: int


class Scalar:
    """A scalar type; calling it converts a Python number to the numpy scalar of that type.

    There is one object a type. Attributes: ``name``, ``kind``, ``bits``, ``code`` (what the native side and files
    store), ``numpy`` (the dtype of one element), ``size`` (its bytes), ``align``, ``is_float``, ``is_integer`` (bool is
    none), ``leaves``.
    """

    __slots__ = ("align", "bits", "code", "is_float", "is_integer", "kind", "leaves", "name", "numpy", "size")

    def __init__(self, name: str, kind: Kind, bits: int, code: int) -> None:
        self.name, self.kind, self.bits, self.code = name, kind, bits, code
        letter = "u" if kind is Kind.POINTER else kind.value
        self.numpy: np.dtype[Any] = np.dtype("?") if kind is Kind.BOOL else np.dtype(f"{letter}{bits // 8}")
        self.size = self.align = self.numpy.itemsize
        self.is_float, self.is_integer = kind is Kind.FLOAT, kind in (Kind.INT, Kind.UINT)
        self.leaves = (Leaf(self, 0),)

    @property
    def scalar(self) -> Scalar:
        """The scalar type that the element is made of: itself."""
        return self

    @property
    def length(self) -> int:
        """Components of one element: 1."""
        return 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of one element: none."""
        return ()

    @property
    def text(self) -> str:
        """How the IR writes the type."""
        return self.name

    @property
    def __name__(self) -> str:
        """Warp's name, such as ``float32``, where classes have theirs."""
        return "bool" if self.kind is Kind.BOOL else self.numpy.name

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self.numpy.type)

    def __call__(self, value: Any = 0) -> Any:
        """Convert a number to the numpy scalar of this type: a float saturates where integers end, NaN becomes 0."""
        if self.is_integer and isinstance(value, (float, np.floating)):
            limits = np.iinfo(self.numpy)
            whole = (
                int(value) if np.isfinite(value) else 0 if np.isnan(value) else limits.max if value > 0 else limits.min
            )
            value = min(max(whole, limits.min), limits.max)
        return self.numpy.type(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _scalar, (self.name,)

    def __repr__(self) -> str:
        return self.name


# Never renumber, only append.
bool_ = Scalar("bool", Kind.BOOL, 1, 0)
int32 = Scalar("i32", Kind.INT, 32, 1)
uint32 = Scalar("u32", Kind.UINT, 32, 2)
int64 = Scalar("i64", Kind.INT, 64, 3)
uint64 = Scalar("u64", Kind.UINT, 64, 4)
float32 = Scalar("f32", Kind.FLOAT, 32, 5)
float64 = Scalar("f64", Kind.FLOAT, 64, 6)
float16 = Scalar("f16", Kind.FLOAT, 16, 7)
int8 = Scalar("i8", Kind.INT, 8, 8)
uint8 = Scalar("u8", Kind.UINT, 8, 9)
int16 = Scalar("i16", Kind.INT, 16, 10)
uint16 = Scalar("u16", Kind.UINT, 16, 11)

SCALARS: tuple[Scalar, ...] = (
    bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64,
)  # fmt: skip

# An address, which only the IR has: what an array's elements are found by.
pointer = Scalar("ptr", Kind.POINTER, 64, 12)

_NAMED = {scalar.name: scalar for scalar in (*SCALARS, pointer)}


def _scalar(name: str) -> Scalar:
    return _NAMED[name]
