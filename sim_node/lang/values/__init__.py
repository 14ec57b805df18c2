"""Values of composite types on the host, with the kernels' arithmetic: what calling a type gives.

The types themselves are ``sim_node.dtypes``'; users get them from here, so that they can make values.
"""

from __future__ import annotations

from typing import Any

from sim_node import dtypes
from sim_node.lang.values import matrix, quaternion, rigid, structure, vector
from sim_node.lang.values.value import KINDS, class_of

KINDS.update(
    {
        dtypes.Vector: vector.VectorValue,
        dtypes.Matrix: matrix.MatrixValue,
        dtypes.Quaternion: quaternion.QuaternionValue,
        dtypes.Transform: rigid.TransformValue,
        dtypes.Struct: structure.StructValue,
    }
)


def _make(type_: Any, *parts: Any, **named: Any) -> Any:
    return class_of(type_)(*parts, **named)


dtypes.MAKE.update(dict.fromkeys(KINDS, _make))


def __getattr__(name: str) -> Any:
    try:
        return getattr(dtypes, name)
    except AttributeError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
