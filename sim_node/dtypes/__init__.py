"""The types of the kernel language, each also a constructor of its host value.

Names follow NVIDIA Warp (``float32 int32 vec3 vec2d``); the short names (``f32 i32 vec3f``) are how types print. Every
type is a sequence of leaves: scalars at offsets in C layout.
"""

from __future__ import annotations

import re
from types import GenericAlias
from typing import Any, TypeGuard

import numpy as np

from sim_node.dtypes.array import LAYOUTS, ArrayType
from sim_node.dtypes.composite import MAKE, SUFFIXES, Composite, Matrix, Quaternion, Transform, Vector
from sim_node.dtypes.record import Struct, Tuple, placed
from sim_node.dtypes.scalar import (
    SCALARS,
    Kind,
    Leaf,
    Scalar,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    pointer,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "COMPOSITES", "LAYOUTS", "MAKE", "PYTHON", "SCALARS", "SUFFIXES", "ArrayType", "Composite", "Element", "Kind",
    "Leaf", "Matrix", "Quaternion", "Scalar", "Struct", "Transform", "Tuple", "Type", "Vector", "bool_",
    "dtype_from_numpy", "dtype_to_numpy", "element", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "is_class", "named", "numeric", "placed", "pointer", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

Element = Scalar | Composite | Struct
Type = Scalar | Composite | Struct | Tuple | ArrayType

_FLOATS = (float16, float32, float64)
_NUMBERS = tuple(scalar for scalar in SCALARS if scalar is not bool_)

# Warp's names of composite types: with the suffix of their scalar, and without for f32.
COMPOSITES: dict[str, Composite] = {
    **{f"vec{n}{SUFFIXES[scalar.name]}": Vector(scalar, n) for scalar in _NUMBERS for n in (2, 3, 4)},
    **{f"mat{n}{n}{SUFFIXES[scalar.name]}": Matrix(scalar, n, n) for scalar in _FLOATS for n in (2, 3, 4)},
    **{f"quat{SUFFIXES[scalar.name]}": Quaternion(scalar) for scalar in _FLOATS},
    **{f"transform{SUFFIXES[scalar.name]}": Transform(scalar) for scalar in _FLOATS},
    **{f"spatial_vector{SUFFIXES[scalar.name]}": Vector(scalar, 6) for scalar in _FLOATS},
    **{f"spatial_matrix{SUFFIXES[scalar.name]}": Matrix(scalar, 6, 6) for scalar in _FLOATS},
}
COMPOSITES.update({name[:-1]: type_ for name, type_ in COMPOSITES.items() if type_.scalar is float32})
COMPOSITES.update({f"vec{n}ui": Vector(uint32, n) for n in (2, 3, 4)})

# Python's names of types, which Warp's module has too.
_PYTHONS = {"bool": bool_, "int": int32, "float": float32}

# What a Python annotation or conversion means in a kernel, as Warp has it.
PYTHON: dict[type, Scalar] = {bool: bool_, int: int32, float: float32}

_SCALAR_OF_SUFFIX = {suffix: scalar for scalar in SCALARS for suffix in [SUFFIXES[scalar.name]]}
_BY_NAME = {scalar.name: scalar for scalar in SCALARS}
_STEM = r"(vec(?P<n>\d+)|mat(?P<rows>\d|\d+(?=x))x?(?P<cols>\d+)|(?P<whole>quat|transform))"
_NAME = re.compile(_STEM + r"(?P<suffix>[a-z]+)")


def __getattr__(name: str) -> Any:
    # the names of composite types are a table, not a hundred lines, and Python's are not hidden in this file
    if name in COMPOSITES:
        return COMPOSITES[name]
    if name in _PYTHONS:
        return _PYTHONS[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def named(name: str) -> Scalar | Composite:
    """Find the type that prints as this name. Raises KeyError."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    found = _NAME.fullmatch(name)
    if found is None or found["suffix"] not in _SCALAR_OF_SUFFIX:
        raise KeyError(name)
    scalar = _SCALAR_OF_SUFFIX[found["suffix"]]
    if found["n"]:
        made: Composite = Vector(scalar, int(found["n"]))
    elif found["rows"]:
        made = Matrix(scalar, int(found["rows"]), int(found["cols"]))
    else:
        made = Quaternion(scalar) if found["whole"] == "quat" else Transform(scalar)
    if made.name != name or 0 in made.shape:
        raise KeyError(name)
    return made


def is_class(thing: object) -> TypeGuard[type[Any]]:
    """Tell a class from a generic alias such as ``list[int]``, which Python 3.10 calls a type too."""
    return isinstance(thing, type) and not isinstance(thing, GenericAlias)


def element(spec: object) -> Element:
    """Resolve a dtype given as one of ours, a Python type, a numpy dtype or a name.

    Raises TypeError naming what is accepted.
    """
    if isinstance(spec, (Scalar, Composite, Struct)):
        return spec
    if isinstance(spec, type) and spec in PYTHON:
        return PYTHON[spec]
    if isinstance(spec, str):
        try:
            return named(spec)
        except KeyError:
            pass
    try:
        wanted = np.dtype(spec)  # type: ignore[call-overload]
    except TypeError:
        wanted = None
    for scalar in SCALARS:
        if wanted is not None and scalar.numpy == wanted:
            return scalar
    known = ", ".join([*_BY_NAME, "vec3f, mat33f, quatf, transformf and their kin"])
    raise TypeError(f"{spec!r} is not a dtype of the kernel language; use one of {known}")


def numeric(spec: object) -> Scalar | Composite:
    """Resolve a dtype as ``element`` does that is made of numbers.

    Raises TypeError also for a struct.
    """
    found = element(spec)
    if isinstance(found, Struct):
        raise TypeError(f"{found!r} is a struct, of no one scalar")
    return found


def dtype_from_numpy(spec: object) -> Element:
    """Look up the type of a numpy dtype or of a numpy scalar's class.

    Raises TypeError naming what is accepted.
    """
    return element(np.dtype(spec))  # type: ignore[call-overload]


def dtype_to_numpy(spec: object) -> np.dtype[Any]:
    """Look up the numpy dtype of one scalar of a type.

    Raises TypeError naming what is accepted.
    """
    return numeric(spec).numpy
