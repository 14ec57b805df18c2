"""Operators where the language differs from numpy's scalars: flooring division, shifts, and checks."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sim_node.compiler.frontend.comparisons import COMPARE
from sim_node.compiler.frontend.literals import quotient
from sim_node.compiler.frontend.powers import FUNCS, MOST, repeated
from sim_node.compiler.python.settle import WEAK, agreed, defaulted
from sim_node.compiler.python.stop import StopError
from sim_node.dtypes import numeric
from sim_node.lang.values.value import Value, memory_of


def floor_divide(a: Any, b: Any, subject: str) -> Any:
    """``a // b``; an integer division without a result stops the thread."""
    return _divide(operator.floordiv, a, b, subject)


def divide(a: Any, b: Any, _: str) -> Any:
    """``a / b``."""
    return quotient(a, b) if type(a) in WEAK and type(b) in WEAK else a / b


def modulo(a: Any, b: Any, subject: str) -> Any:
    """``a % b``; an integer division by zero stops the thread."""
    return _divide(operator.mod, a, b, subject)


def power(a: Any, b: Any, _: str) -> Any:
    """``a ** b``: products where the exponent is a Python integer, as when it is compiled."""
    exponent = b if type(b) is int else None
    a, b = agreed(a, b)
    if type(a) in WEAK or isinstance(a, np.integer):
        return a**b
    if exponent == 2:
        return a * a
    if exponent is not None and not isinstance(a, np.float64) and 2 < exponent <= MOST:
        return type(a)(repeated(operator.mul, np.float64(a), exponent))
    return FUNCS[numeric(a.dtype).scalar](a, b)


def _divide(divide: Callable[[Any, Any], Any], a: Any, b: Any, subject: str) -> Any:
    a, b = agreed(a, b)
    if type(b) not in WEAK:
        x, y = (memory_of(one) if isinstance(one, Value) else one for one in (a, b))
        if y.dtype.kind in "iu" and not np.all(y):
            raise StopError("division", subject)
        flooring = divide is operator.floordiv and y.dtype.kind == "i"
        if flooring and np.any((y == -1) & (x == np.iinfo(y.dtype).min)):
            raise StopError("overflow", subject)
    return divide(a, b)


def left_shift(a: Any, b: Any, _: str) -> Any:
    """``a << b``, the count masked to the width."""
    return _shift(operator.lshift, a, b)


def right_shift(a: Any, b: Any, _: str) -> Any:
    """``a >> b``, the count masked to the width."""
    return _shift(operator.rshift, a, b)


def _shift(shift: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    a, b = agreed(a, b)
    if type(b) not in WEAK:
        b = b.dtype.type(int(b) & (8 * b.itemsize - 1))
    return shift(a, b)


def check(truth: Any, message: str) -> None:
    """StopError the thread where an assertion fails."""
    if not truth:
        raise StopError("assert", message)


COMPARISONS = {symbol: compare for symbol, _, compare in COMPARE.values()}


def check_compared(left: Any, right: Any, symbol: str, message: str) -> None:
    """Stop the thread where two values do not compare so, and tell both where they are scalars."""
    if not COMPARISONS[symbol](left, right):
        raise StopError("assert", message, *map(_word, defaulted(*agreed(left, right))))


def _word(value: Any) -> int:
    """A scalar in 64 bits, as the error holds it, with the one NaN; 0 for anything else, of which it tells nothing."""
    if not isinstance(value, np.generic):
        return 0
    if value.dtype.kind != "f":
        return int(value)
    (bits,) = struct.unpack("q", struct.pack("d", value if value == value else np.nan))
    return int(bits)


def count(*limits: Any) -> Iterator[Any]:
    """Count as ``range`` does, in the type of its limits."""
    limits = defaulted(*(int(limit) if type(limit) is bool else limit for limit in limits))
    if len(limits) > 2 and limits[2] == 0:
        raise StopError("assert", "the step of the range is not 0")
    scalar = type(limits[0])
    return map(scalar, range(*map(int, limits)))
