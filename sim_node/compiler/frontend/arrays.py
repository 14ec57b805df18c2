"""Arrays in a kernel: where an element lies, and the views that indices and slices make."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.funcs import invoke_value
from sim_node.compiler.frontend.layouts import array_type, extent, stride, wide
from sim_node.compiler.frontend.operand import Literal, Operand
from sim_node.compiler.frontend.selection import ZERO_STEP, Span, bounds, check_integer, visited
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, Type, bool_, int32, int64, pointer, uint32, uint64
from sim_node.errors import mistakes
from sim_node.lang.func import Func
from sim_node.lang.library import slices

_ALL = Span(ast.Slice(), None, None, None)  # what a dimension without an index is taken by
_NARROW: dict[Type | None, Func] = {
    int64: slices.narrow_signed, uint32: slices.narrow_unsigned, uint64: slices.narrow_unsigned
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """Where an element lies: an address and a byte offset from it."""

    pointer: Value
    offset: int = 0


def subscript(body: Body, array: Value, node: ast.Subscript) -> Address | Value:
    """Find what ``a[i]``, ``a[i, j]`` or ``a[i:n]`` means: the address of an element, or a view of the array."""
    kind = array_type(array)
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(keys) > kind.ndim:
        raise body.error(
            mistakes.INDEX_COUNT,
            "Incorrect number of indices specified for array indexing: "
            f"'{text(node.value)}' has {kind.ndim} dimension{'s' * (kind.ndim > 1)}, not {len(keys)}",
            node,
            f"one index a dimension: {text(node.value)}[{', '.join('ijkl'[: kind.ndim])}]",
        )
    given = visited(body, keys)
    if any(isinstance(key, Span) for key in given):
        return _slice(body, array, given, keys, node)
    indices = [_index(body, array, d, key, keys[d], node) for d, key in enumerate(given)]
    if kind.layout == "contiguous":
        base = _offset(body, array, indices, node)
    else:
        base = body.emit(Op.EXTRACT, pointer, (array,), node, 0)
        for dimension, index in enumerate(indices):
            base = _step(body, array, base, dimension, index, node)
    return Address(base) if len(keys) == kind.ndim else _view(body, array, base, len(keys), node)


def _index(
    body: Body, array: Value, dimension: int, index: Operand | Span, node: ast.expr, whole: ast.Subscript
) -> Value:
    """Check an index; a negative number counts from the end, as in Python."""
    assert not isinstance(index, Span)
    length = extent(body, array, dimension, whole)
    if isinstance(index, Literal) and index.value < 0:
        value = body.emit(Op.ADD, int32, (length, body.constant(int32, index, node)), whole)
    else:
        value = body.materialise(index, node)
    kind = "index" if array_type(array).ndim == 1 else f"index {dimension}"
    return bounds(body, value, length, text(whole.value), whole, kind)


def _offset(body: Body, array: Value, indices: list[Value], node: ast.AST) -> Value:
    """The address in C order: the indices make one number, row by row."""
    kind = array_type(array)
    total = indices[0]
    for dimension in range(1, kind.ndim):
        length = wide(body, extent(body, array, dimension, node), node)
        total = body.emit(Op.MUL, int64, (wide(body, total, node), length), node)
        if dimension < len(indices):
            total = body.emit(Op.ADD, int64, (total, wide(body, indices[dimension], node)), node)
    base = body.emit(Op.EXTRACT, pointer, (array,), node, 0)
    return body.emit(Op.OFFSET, pointer, (base, total), node, kind.dtype.size)


def _step(body: Body, array: Value, base: Value, dimension: int, index: Value, node: ast.AST) -> Value:
    """Go along a dimension of a strided or indexed array."""
    if array_type(array).layout == "indexed":
        index = _listed(body, array, dimension, index, node)
    bytes_ = body.emit(Op.MUL, int64, (wide(body, index, node), stride(body, array, dimension, node)), node)
    return body.emit(Op.OFFSET, pointer, (base, bytes_), node, 1)


def _listed(body: Body, array: Value, dimension: int, index: Value, node: ast.AST) -> Value:
    """What the list of a dimension holds at an index, or the index itself where the dimension has no list."""
    builder, variable = body.builder, object()
    indices = body.emit(Op.EXTRACT, pointer, (array,), node, array_type(array).index(dimension))
    there = body.emit(Op.CAST, bool_, (indices,), node)
    whole = wide(body, index, node)
    listed, join = builder.block("listed"), builder.block("join")
    builder.write(variable, whole)
    builder.branch(there, listed, join, body.location(node))
    builder.enter(listed)
    at = body.emit(Op.OFFSET, pointer, (indices, whole), node, int32.size)
    found = body.emit(Op.LOAD, int32, (at,), node, 0)
    builder.write(variable, wide(body, found, node))
    builder.jump(join)
    builder.enter(join)
    return builder.read(variable)


def _view(body: Body, array: Value, base: Value, taken: int, node: ast.AST) -> Value:
    """The array of the dimensions that are left behind the first ones."""
    kind = array_type(array)
    leaves = [base]
    leaves += [extent(body, array, d, node) for d in range(taken, kind.ndim)]
    if kind.layout != "contiguous":
        leaves += [stride(body, array, d, node) for d in range(taken, kind.ndim)]
    if kind.layout == "indexed":
        leaves += [body.emit(Op.EXTRACT, pointer, (array,), node, kind.index(d)) for d in range(taken, kind.ndim)]
    return body.emit(Op.MAKE, ArrayType(kind.dtype, kind.ndim - taken, kind.layout), tuple(leaves), node)


def _slice(body: Body, array: Value, given: list[Operand | Span], keys: list[ast.expr], node: ast.Subscript) -> Value:
    """The strided array that slices leave, among them indices that take dimensions away."""
    kind = array_type(array)
    if kind.layout == "indexed":
        raise body.error(
            mistakes.INDEXED_SLICE, f"'{text(node.value)}' is an indexed array, which has no slices", node, "index it"
        )
    base = body.emit(Op.EXTRACT, pointer, (array,), node, 0)
    extents, strides = [], []
    for dimension in range(kind.ndim):
        key = given[dimension] if dimension < len(given) else _ALL
        length, apart = extent(body, array, dimension, node), stride(body, array, dimension, node)
        if not isinstance(key, Span):
            index = wide(body, _index(body, array, dimension, key, keys[dimension], node), node)
            base = body.emit(Op.OFFSET, pointer, (base, body.emit(Op.MUL, int64, (index, apart), node)), node, 1)
            continue
        step = _step_of(body, key, node)
        ends = key.node
        start = _bound(body, key.lower, ends.lower, slices.first, length, step, node)
        stop = _bound(body, key.upper, ends.upper, slices.last, length, step, node)
        extents.append(invoke_value(body, slices.count, (start, stop, step), node))
        moved = body.emit(Op.MUL, int64, (wide(body, start, node), apart), node)
        # an empty slice may begin where the array ends, and no address is made beyond it
        moved = invoke_value(body, slices.nothing_if_empty, (moved, extents[-1]), node)
        base = body.emit(Op.OFFSET, pointer, (base, moved), node, 1)
        strides.append(body.emit(Op.MUL, int64, (apart, wide(body, step, node)), node))
    made = ArrayType(kind.dtype, len(extents), "strided")
    return body.emit(Op.MAKE, made, (base, *extents, *strides), node)


def _step_of(body: Body, span: Span, node: ast.Subscript) -> Value:
    """The step of a slice, which is not 0; where only the run knows it, the thread stops if it is."""
    step, written = span.step, span.node.step
    if step is None or written is None:
        return body.builder.constant(int32, 1)
    check_integer(body, step, written)
    if isinstance(step, Literal):
        if step.value == 0:
            raise body.error(mistakes.ZERO_STEP, ZERO_STEP, written)
        return body.constant(int32, step, written)
    value = body.materialise(step, written)
    assert isinstance(value.type, Scalar)
    moves = body.emit(Op.NE, bool_, (value, body.constant(value.type, Literal(0), written)), written)
    body.check(moves, "assert", ZERO_STEP.lower(), node)
    return _narrow(body, value, written)


def _bound(
    body: Body,
    bound: Operand | None,
    written: ast.expr | None,
    missing: Func,
    length: Value,
    step: Value,
    node: ast.AST,
) -> Value:
    """An end of a slice as an i32, inside of the array."""
    if bound is None or written is None:
        return invoke_value(body, missing, (length, step), node)
    check_integer(body, bound, written)
    value = _narrow(body, body.materialise(bound, written), node)
    return invoke_value(body, slices.clamped, (value, length, step), node)


def _narrow(body: Body, value: Value, node: ast.AST) -> Value:
    """Make a bound or a step an i32: one that is beyond it means what the last one there does."""
    if value.type in _NARROW:
        return invoke_value(body, _NARROW[value.type], (value,), node)
    return value if value.type is int32 else body.emit(Op.CAST, int32, (value,), node)
