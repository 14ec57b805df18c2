"""How arrays lie: their extents and strides, and one layout seen as another."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, int32, int64, pointer
from sim_node.dtypes.array import strided

if TYPE_CHECKING:
    from sim_node.compiler.frontend.body import Body


def array_type(array: Value) -> ArrayType:
    """The type of what is known to be an array."""
    assert isinstance(array.type, ArrayType)
    return array.type


def wide(body: Body, value: Value, node: ast.AST) -> Value:
    """An integer as an i64."""
    return value if value.type is int64 else body.emit(Op.CAST, int64, (value,), node)


def extent(body: Body, array: Value, dimension: int, node: ast.AST) -> Value:
    """How many elements an array has along a dimension."""
    return body.emit(Op.EXTRACT, int32, (array,), node, array_type(array).extent(dimension))


def stride(body: Body, array: Value, dimension: int, node: ast.AST) -> Value:
    """Bytes from one index of a dimension to the next."""
    kind = array_type(array)
    if kind.layout != "contiguous":
        return body.emit(Op.EXTRACT, int64, (array,), node, kind.stride(dimension))
    apart = body.builder.constant(int64, kind.dtype.size)
    for inner in range(dimension + 1, kind.ndim):
        apart = body.emit(Op.MUL, int64, (apart, wide(body, extent(body, array, inner, node), node)), node)
    return apart


def fits(given: object, wanted: object) -> bool:
    """Whether arrays of one type can be seen as of another, which says more of how they lie."""
    return given != wanted and isinstance(given, ArrayType) and strided(given) == wanted


def laid(body: Body, array: Value, node: ast.AST) -> Value:
    """See a contiguous array as a strided one."""
    kind = array_type(array)
    leaves = [body.emit(Op.EXTRACT, pointer, (array,), node, 0)]
    leaves += [extent(body, array, dimension, node) for dimension in range(kind.ndim)]
    leaves += [stride(body, array, dimension, node) for dimension in range(kind.ndim)]
    return body.emit(Op.MAKE, strided(kind), tuple(leaves), node)
