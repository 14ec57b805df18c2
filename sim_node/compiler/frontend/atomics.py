"""Atomic changes of an element of an array: ``sn.atomic_add(a, i, value)`` and its kin give the value before."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend import places
from sim_node.compiler.frontend.agree import Written, numbers, text
from sim_node.compiler.frontend.arrays import Address
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.ir.atomic import ATOMICS, Atomic
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Composite, Scalar, Type, int32, pointer
from sim_node.errors import mistakes


def atomic(body: Body, name: str, arguments: list[Written], node: ast.Call) -> Value:
    """Lower an atomic operation: the array, an index a dimension, then the value, or for cas two."""
    operation = name.removeprefix("atomic_")
    row = ATOMICS[operation]
    array, count = arguments[0][0] if arguments else None, row.operands
    if not isinstance(array, Value) or not isinstance(array.type, ArrayType):
        what = describe(array) if array is not None else "nothing"
        raise body.error(
            mistakes.ATOMIC_TARGET, f"sn.{name} changes an element of an array, not {what}", node, _form(name, 1)
        )
    kind = array.type
    element = kind.dtype
    if len(arguments) != 1 + kind.ndim + count:
        what = f"sn.{name} of {kind!r} takes {1 + kind.ndim + count} arguments, not {len(arguments)}"
        raise body.error(mistakes.ATOMIC_TARGET, what, node, _form(name, kind.ndim))
    if not isinstance(element, (Scalar, Composite)) or not row.takes(element.scalar):
        raise body.error(
            mistakes.ATOMIC_ELEMENT, f"sn.{name} does not take {element!r}", node, _remedy(name, row, element)
        )
    if row.ordered and element.is_float and body.unit.deterministic:
        raise body.error(
            mistakes.ATOMIC_ORDER, f"sn.{name} on {element!r}: the bits would depend on the order of threads", node,
            "add up integers (fixed point: sn.int64(x * scale)), reduce in a loop of one thread, or mark the kernel "
            "@sn.kernel(deterministic=False)",
        )  # fmt: skip
    place = _place(body, node, kind.ndim)
    role = f"the value of sn.{name}"
    given = [body.convert(operand, element, at, role) for operand, at in arguments[1 + kind.ndim :]]
    old = []
    parts = [numbers(body, one, node) if isinstance(element, Composite) else (one,) for one in given]
    for leaf, operands in zip(element.leaves, zip(*parts, strict=True), strict=True):
        moved = place.pointer
        if place.offset + leaf.offset:
            one = body.builder.constant(int32, 1)
            moved = body.emit(Op.OFFSET, pointer, (moved, one), node, place.offset + leaf.offset)
        old.append(body.emit(Op.ATOMIC, leaf.scalar, (moved, *operands), node, operation))
    return old[0] if isinstance(element, Scalar) else body.emit(Op.MAKE, element, tuple(old), node)


def _place(body: Body, node: ast.Call, ndim: int) -> Address:
    """Find the element as ``a[i, j]`` does."""
    keys = node.args[1 : 1 + ndim]
    key = keys[0] if ndim == 1 else ast.copy_location(ast.Tuple(keys, ast.Load()), node)
    spot = places.place(body, ast.copy_location(ast.Subscript(node.args[0], key, ast.Load()), node))
    assert isinstance(spot, places.Element), text(node)
    return Address(spot.pointer, spot.offset)


def _remedy(name: str, row: Atomic, element: Type) -> str:
    """What to use, and why: what GPUs have, in the words of Warp, since they also name the types that it has."""
    if not isinstance(element, (Scalar, Composite)) or element.scalar.kind.value not in row.kinds:
        return "use an array of i32"
    floats = ", float16" * row.half + ", bfloat16, float32, or float64" if "f" in row.kinds else ""
    return (
        f"use i32: GPUs' {name}() operations only work on arrays with [u]int32, [u]int64{floats} as the underlying "
        f"scalar types, but got {element!r} (with scalar type {element.scalar!r})"
    )


def _form(name: str, ndim: int) -> str:
    values = "compare, value" if name == "atomic_cas" else "value"
    return f"sn.{name}(a, {', '.join('ijkl'[:ndim])}, {values})"
