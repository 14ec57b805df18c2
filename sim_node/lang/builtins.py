"""What the language has built in: one row a name, with the IR operation it becomes and what it does in plain Python.

The host side works on numpy scalars and returns them in the type they came in, so that a func runs under CPython as it
does in a kernel. Everything that can be written in the language itself is in ``lang/library`` instead.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from sim_node import dtypes
from sim_node.errors import mistakes
from sim_node.lang.formats import formatted


@dataclass(frozen=True, slots=True)
class Builtin:
    """One row: the public name, the IR operation by its name there, and the host's implementation."""

    name: str
    op: str
    host: Callable[..., Any]

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Do it in plain Python, on numpy scalars; Python's own numbers, which have no dtype, give such a number."""
        result = self.host(*args, **named)
        weak = bool(args) and all(type(arg) in (bool, int, float) for arg in args)
        return result.item() if weak and isinstance(result, np.generic) else result

    def __repr__(self) -> str:
        return f"<builtin sn.{self.name}>"


_running = threading.local()


@contextmanager
def thread(index: int) -> Iterator[None]:
    """Let ``sn.tid()`` be ``index`` in plain Python inside the with block."""
    _running.index = np.int32(index)
    try:
        yield
    finally:
        del _running.index


def _tid() -> Any:
    try:
        return _running.index
    except AttributeError:
        raise mistakes.NO_THREAD("sn.tid() has a value only inside a kernel, while a launch runs it") from None


def _lesser(a: Any, b: Any) -> Any:
    """minimumNumber of IEEE 754-2019: a number wins over NaN, -0.0 is below 0.0."""
    return b if a != a or b < a or (b == a and np.signbit(b)) else a


def _greater(a: Any, b: Any) -> Any:
    """maximumNumber of IEEE 754-2019: a number wins over NaN, 0.0 is above -0.0."""
    return b if a != a or b > a or (b == a and not np.signbit(b)) else a


def _extreme(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Choose among numbers; of vectors, component by component; of one vector, among its components."""

    def host(*values: Any) -> Any:
        if np.ndim(values[0]) == 0:
            return reduce(choose, values)
        if len(values) == 1:
            return reduce(choose, values[0])
        chosen = +values[0]
        chosen[:] = [reduce(choose, parts) for parts in zip(*values, strict=True)]
        return chosen

    return host


def _cast(value: Any, target: dtypes.Scalar) -> Any:
    """The value's bits as another type of the same width; NaN shows the one canonical pattern."""
    source = np.asarray(value)
    if source.dtype.itemsize != target.size:
        raise TypeError(f"sn.cast keeps the bits: {source.dtype} and {target} differ in width")
    if source.dtype.kind == "f" and np.isnan(source):
        source = np.abs(np.asarray(np.nan, source.dtype))
    return source.view(target.numpy)[()]


def _fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once."""
    kind = np.result_type(a, b, c)
    a, b, c = kind.type(a), kind.type(b), kind.type(c)
    if not all(np.isfinite(value) for value in (a, b, c)):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c
    try:
        near = float(exact)
    except OverflowError:
        return kind.type(math.copysign(math.inf, exact))
    if kind.itemsize < 8 and Fraction(near) != exact and not np.float64(near).view(np.uint64) & 1:
        near = math.nextafter(near, math.copysign(math.inf, exact - Fraction(near)))  # to odd, as f64 is not the last
    with np.errstate(over="ignore"):
        return kind.type(near)


def _quot(a: Any, b: Any) -> Any:
    return (a - np.fmod(a, b)) // b


def _printf(text: str, *values: Any) -> None:
    sys.stdout.write(formatted(text, values))


def _scalar(dtype: Any) -> dtypes.Scalar:
    kind = dtypes.element(dtype)
    if not isinstance(kind, dtypes.Scalar):
        raise TypeError(f"{kind!r} is no scalar type")
    return kind


def _vector(*components: Any, length: int | None = None, dtype: Any = None) -> Any:
    values = np.array(components)
    return dtypes.Vector(_scalar(dtype or values.dtype), length or values.size)(*values)


def _matrix(*components: Any, shape: tuple[int, int], dtype: Any = None) -> Any:
    return dtypes.Matrix(_scalar(dtype or np.array(components).dtype), *shape)(*components)


def _quaternion(*components: Any, dtype: Any = None) -> Any:
    return dtypes.Quaternion(_scalar(dtype or np.asarray(components[-1]).dtype))(*components)


def _transformation(*components: Any, dtype: Any = None, **named: Any) -> Any:
    parts = (*components, *named.values())
    return dtypes.Transform(_scalar(dtype or np.asarray(parts[-1]).dtype))(*components, **named)


def _identity(n: int, dtype: Any) -> Any:
    scalar = _scalar(dtype)
    return dtypes.Matrix(scalar, n, n)(*np.eye(n, dtype=scalar.numpy).reshape(-1))


def _from_rows(*rows: Any) -> Any:
    values = np.array([np.asarray(row) for row in rows])
    return dtypes.Matrix(_scalar(values.dtype), *values.shape)(*values.reshape(-1))


def _from_cols(*cols: Any) -> Any:
    values = np.array([np.asarray(col) for col in cols]).T
    return dtypes.Matrix(_scalar(values.dtype), *values.shape)(*values.reshape(-1))


tid = Builtin("tid", "TID", _tid)
sqrt = Builtin("sqrt", "SQRT", np.sqrt)
abs_ = Builtin("abs", "ABS", np.abs)
min_ = Builtin("min", "MIN", _extreme(_lesser))
max_ = Builtin("max", "MAX", _extreme(_greater))
floor = Builtin("floor", "FLOOR", np.floor)
ceil = Builtin("ceil", "CEIL", np.ceil)
trunc = Builtin("trunc", "TRUNC", np.trunc)
rint = Builtin("rint", "RINT", np.rint)
cast = Builtin("cast", "BITCAST", _cast)
vector = Builtin("vector", "MAKE", _vector)
matrix = Builtin("matrix", "MAKE", _matrix)
quaternion = Builtin("quaternion", "MAKE", _quaternion)
transformation = Builtin("transformation", "MAKE", _transformation)
identity = Builtin("identity", "MAKE", _identity)
matrix_from_rows = Builtin("matrix_from_rows", "MAKE", _from_rows)
matrix_from_cols = Builtin("matrix_from_cols", "MAKE", _from_cols)

fma = Builtin("fma", "FMA", _fma)


def _atomic(name: str, change: Callable[..., Any]) -> Builtin:
    """A row of an atomic change: the array, its indices, and what it is changed by; gives what was there before."""

    def host(array: Any, *rest: Any) -> Any:
        indices, operands = (rest[:-2], rest[-2:]) if name == "cas" else (rest[:-1], rest[-1:])
        at = indices[0] if len(indices) == 1 else indices
        before = array[at]
        before = before.copy() if isinstance(before, np.ndarray) else before
        array[at] = change(before, *operands)
        return before

    return Builtin(f"atomic_{name}", "ATOMIC", host)


ATOMICS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _atomic("add", lambda a, b: a + b), _atomic("sub", lambda a, b: a - b), _atomic("min", _extreme(_lesser)),
        _atomic("max", _extreme(_greater)), _atomic("and", lambda a, b: a & b), _atomic("or", lambda a, b: a | b),
        _atomic("xor", lambda a, b: a ^ b), _atomic("exch", lambda _, b: b),
        _atomic("cas", lambda a, b, c: c if a == b else a),
    )
}  # fmt: skip

# Python's own print, which is also what it does here; and C's printf.
print_ = Builtin("print", "PRINT", print)
printf = Builtin("printf", "PRINT", _printf)

# For the library alone. Bits of a float, where no result depends on those of a NaN. The sum of a product, rounded once
# or twice, whichever is faster: where no result depends on that. Truncating integer division, whose divisor is neither
# 0 nor, with the least dividend, -1.
raw = Builtin("raw", "RAW", _cast)
muladd = Builtin("muladd", "MULADD", lambda a, b, c: a * b + c)
quot = Builtin("quot", "QUOT", _quot)
rem = Builtin("rem", "REM", np.fmod)

# The public rows, under the names that users write after ``sn.``.
BUILTINS: dict[str, Builtin] = (
    {row.name: row for row in (tid, sqrt, abs_, min_, max_, floor, ceil, trunc, rint, fma, cast, print_, printf)}
    | {row.name: row for row in (vector, matrix, identity, matrix_from_rows, matrix_from_cols)}
    | ATOMICS
)


def __getattr__(name: str) -> Builtin:
    # abs, min and max are public under Python's own names without hiding those in this file
    if name in BUILTINS:
        return BUILTINS[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
