"""Computes an op on constants exactly as compiled code does at run time: wrap-around, IEEE 754, saturation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sim_node.compiler.ir.function import Attr
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Scalar, bool_

_Number = Any  # a numpy scalar


def evaluate(op: Op, kind: Scalar, operands: list[tuple[Scalar, Attr]]) -> Attr:
    """Return the constant, or None where the op is not evaluated or has no result (a division by zero)."""
    compute = _TABLE.get(op)
    if compute is None:
        return None
    with np.errstate(all="ignore"):
        result = compute(kind, *(source(attr) for source, attr in operands))
    if result is None:
        return None
    attr: Attr = kind(result).item()
    return attr


def _least(low: _Number, high: _Number, sign: float) -> _Number:
    """IEEE 754-2019 minimumNumber of (sign · x): a number wins over NaN, -0 is below +0."""
    if np.isnan(low) or np.isnan(high):
        return high if np.isnan(low) else low
    first = (sign * low, math.copysign(1, sign * low)) <= (sign * high, math.copysign(1, sign * high))
    return low if first else high


def _quotient(kind: Scalar, a: _Number, b: _Number) -> _Number | None:
    return None if _undefined(kind, a, b) else (abs(int(a)) // abs(int(b))) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(kind: Scalar, a: _Number, b: _Number) -> _Number | None:
    return None if _undefined(kind, a, b) else (abs(int(a)) % abs(int(b))) * (-1 if a < 0 else 1)


def _undefined(kind: Scalar, a: _Number, b: _Number) -> bool:
    return bool(b == 0) or (bool(b == -1) and int(a) == np.iinfo(kind.numpy).min)


def _cast(kind: Scalar, a: _Number) -> _Number:
    if kind is bool_:
        return a != 0
    if not kind.is_integer or not isinstance(a, np.floating):
        return a.astype(kind.numpy)
    if np.isnan(a):
        return 0
    limits = np.iinfo(kind.numpy)
    return limits.max if a >= limits.max else limits.min if a <= limits.min else int(a)


def _bitcast(kind: Scalar, a: _Number) -> _Number:
    if isinstance(a, np.floating) and np.isnan(a):
        a = type(a)(np.nan)
    return a.view(kind.numpy)


def _shift(shift: Callable[[_Number, _Number], _Number]) -> Callable[..., _Number]:
    return lambda kind, a, b: shift(a, kind(int(b) & (kind.bits - 1)))


def _plain(ufunc: Callable[..., _Number]) -> Callable[..., _Number]:
    return lambda _kind, *operands: ufunc(*operands)


_TABLE: dict[Op, Callable[..., _Number]] = {
    Op.ADD: _plain(np.add),
    Op.SUB: _plain(np.subtract),
    Op.MUL: _plain(np.multiply),
    Op.DIV: _plain(np.divide),
    Op.QUOT: _quotient,
    Op.REM: _remainder,
    Op.NEG: _plain(np.negative),
    Op.ABS: _plain(np.abs),
    Op.MIN: lambda kind, a, b: _least(a, b, 1) if kind.is_float else min(a, b),
    Op.MAX: lambda kind, a, b: _least(a, b, -1) if kind.is_float else max(a, b),
    Op.SQRT: _plain(np.sqrt),
    Op.FLOOR: _plain(np.floor),
    Op.CEIL: _plain(np.ceil),
    Op.TRUNC: _plain(np.trunc),
    Op.RINT: _plain(np.rint),
    Op.AND: _plain(np.bitwise_and),
    Op.OR: _plain(np.bitwise_or),
    Op.XOR: _plain(np.bitwise_xor),
    Op.INVERT: _plain(np.invert),
    Op.SHL: _shift(np.left_shift),
    Op.SHR: _shift(np.right_shift),
    Op.EQ: _plain(np.equal),
    Op.NE: _plain(np.not_equal),
    Op.LT: _plain(np.less),
    Op.LE: _plain(np.less_equal),
    Op.GT: _plain(np.greater),
    Op.GE: _plain(np.greater_equal),
    Op.CAST: _cast,
    Op.BITCAST: _bitcast,
    Op.RAW: _bitcast,
}
