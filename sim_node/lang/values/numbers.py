"""Numbers on their way into a value: what a scalar type takes from the host, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.dtypes import Kind, Scalar

_PYTHON = (bool, int, float)


def number(value: Any, scalar: Scalar) -> Any:
    """Convert a host's number to a numpy scalar of the type; floats are rounded.

    Raises TypeError for what is no number and for a float where integers are wanted, OverflowError out of range.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    whole = isinstance(value, (bool, int, np.bool_, np.integer))
    if scalar.kind is Kind.BOOL:
        if is_number(value):
            return np.bool_(bool(value))  # a number is true or not, as Python has it
    elif whole or (isinstance(value, (float, np.floating)) and scalar.is_float):
        with np.errstate(all="ignore"):
            # numpy's own integers would wrap silently
            return scalar.numpy.type(int(value) if whole else value if value == value else np.nan)
    raise TypeError(f"{scalar!r} is not made of {_told(value)}")


def operand(value: Any, scalar: Scalar, symbol: str, name: str) -> Any:
    """Give an operand as a numpy scalar of exactly this type: a Python number takes it, any other must have it.

    ``symbol`` and ``name`` say in the error what it meets. Raises TypeError as the compiler does.
    """
    if type(value) in _PYTHON and (type(value) is bool) == (scalar.kind is Kind.BOOL):
        return number(value, scalar)
    if isinstance(value, np.generic) and value.dtype == scalar.numpy:
        return value
    raise TypeError(f"'{symbol}' mixes {name} and {_told(value)}; convert it first: sn.{scalar.numpy.name}(…)")


def is_number(value: Any) -> bool:
    """Whether a value is one number: Python's, or a numpy scalar."""
    return isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (np.void, np.character))


def _told(value: Any) -> str:
    if isinstance(value, np.generic):
        return str(value.dtype)
    return f"the {type(value).__name__} {value!r}" if type(value) in _PYTHON else f"a {type(value).__name__}"
