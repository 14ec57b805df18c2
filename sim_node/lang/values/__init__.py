"""Values of composite types on the host, with the kernels' arithmetic: what calling a type gives."""

from __future__ import annotations

from sim_node import dtypes
from sim_node.lang.values import matrix, quaternion, structure, transform, vector
from sim_node.lang.values.value import CLASSES

for _kind, _class, _make in (
    (dtypes.Vector, vector.VectorValue, vector.make),
    (dtypes.Matrix, matrix.MatrixValue, matrix.make),
    (dtypes.Quaternion, quaternion.QuaternionValue, quaternion.make),
    (dtypes.Transform, transform.TransformValue, transform.make),
    (dtypes.Struct, structure.StructValue, structure.make),
):
    CLASSES[_kind] = _class
    dtypes.MAKE[_kind] = _make
