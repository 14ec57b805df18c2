"""What kernels see values of the host as."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from sim_node import dtypes
from sim_node.dtypes import ArrayType, Type
from sim_node.lang.values.value import Value
from sim_node.lang.values.value import type_of as type_of_value


def type_of(value: Any) -> Type | None:
    """The type that a kernel or func sees an argument as; None for what it cannot take.

    A Python number is what it is in a kernel: f32, i32 or bool.
    """
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, Value):
        kind: Type = type_of_value(value)
        return kind
    if type(value) in dtypes.PYTHON:
        return dtypes.PYTHON[type(value)]
    given, ndim = getattr(value, "dtype", None), getattr(value, "ndim", 0)
    if given is None or isinstance(value, dtypes.Composite):
        return None
    try:
        element = dtypes.element(given)
    except TypeError:
        return None
    return element if isinstance(value, np.generic) else ArrayType(element, ndim)
