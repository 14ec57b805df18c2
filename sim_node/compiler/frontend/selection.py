"""Parts of a value: which of its leaves an index, a slice or an attribute means."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.operand import Choice, Literal, Operand, Weak, outcomes
from sim_node.compiler.frontend.scope import suggestion
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import (
    Composite,
    Matrix,
    Quaternion,
    Scalar,
    Struct,
    Transform,
    Type,
    Vector,
    bool_,
)
from sim_node.errors import mistakes

AXES = "xyzw"
Leaves = tuple[int, ...]
# An index or slice: a number, a value checked to be below the length, or the numbers that a slice goes through.
Key = int | Value | range


ZERO_STEP = "Slice step cannot be zero"


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a value: its type and its leaves; with ``index``, the leaves of whichever choice it says."""

    type: Type
    choices: tuple[Leaves, ...]
    index: Value | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A slice whose ends and step were evaluated; None for those that are not written."""

    node: ast.Slice
    lower: Operand | None
    upper: Operand | None
    step: Operand | None


def has_items(kind: Type | None) -> bool:
    """Whether values of the type are taken apart by indices."""
    return isinstance(kind, Composite)


def subscript(body: Body, kind: Composite, node: ast.Subscript) -> list[Selection]:
    """Find what ``v[i]``, ``m[i, j]``, ``m[i]``, ``v[a:b]`` mean: one selection after the other, from outside in."""
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(keys) > len(kind.shape):
        raise body.error(
            mistakes.INDEX_COUNT, f"'{text(node.value)}' is {describe_type(kind)}, which has {len(kind.shape)} "
            f"{'index' if len(kind.shape) == 1 else 'indices'}, not {len(keys)}", node,
        )  # fmt: skip
    if isinstance(kind, Matrix):
        return _of_matrix(kind, [key(body, *one, node) for one in zip(visited(body, keys), keys, kind.shape)])
    return [_numbers(kind, range(kind.length), key(body, visited(body, keys)[0], keys[0], kind.length, node))]


def attribute(body: Body, kind: Type, node: ast.Attribute) -> Selection | None:
    """Find what ``v.x``, ``q.w``, ``t.p`` and ``s.field`` mean; None for a type without attributes."""
    if isinstance(kind, Struct):
        found = kind.place(node.attr)
        if found is None:
            names = [name for name, _ in kind.fields]
            raise body.error(
                mistakes.UNKNOWN_ATTRIBUTE, f"{kind!r} has no '{node.attr}'; its fields are {', '.join(names)}", node,
                suggestion(node.attr, names, text(node.value) + ".{}"),
            )  # fmt: skip
        first, type_ = found
        return Selection(type_, (tuple(range(first, first + len(type_.leaves))),))
    if isinstance(kind, Transform) and node.attr in ("p", "q"):
        if node.attr == "p":
            return Selection(kind.vector(3), ((0, 1, 2),))
        return Selection(Quaternion(kind.scalar), ((3, 4, 5, 6),))
    if isinstance(kind, (Vector, Quaternion)):
        axes = AXES[: kind.length] if kind.length <= len(AXES) else ""
        if len(node.attr) == 1 and node.attr in axes:
            return Selection(kind.scalar, ((AXES.index(node.attr),),))
        known = f"its components are {', '.join(axes)}" if axes else f"its components are {text(node.value)}[i]"
    elif isinstance(kind, Transform):
        known = "its parts are p and q"
    else:
        return None
    raise body.error(
        mistakes.UNKNOWN_ATTRIBUTE, f"{kind!r} has no '{node.attr}'; {known}", node,
        "funcs of vectors are called as sn.length(v), sn.dot(a, b), …",
    )  # fmt: skip


def read(body: Body, value: Value, chosen: Selection, node: ast.AST) -> Value:
    """Take the part out of the value."""
    parts = [_taken(body, value, leaves, chosen.type, node) for leaves in chosen.choices]
    result = parts[0]
    for number, part in enumerate(parts[1:], 1):
        result = body.emit(Op.SELECT, chosen.type, (_is(body, chosen, number, node), part, result), node)
    return result


def replaced(body: Body, value: Value, chosen: Selection, part: Value, node: ast.AST) -> Value:
    """Give the value with another part."""
    assert value.type is not None
    count, new = len(value.type.leaves), part.type.leaves if part.type is not None else ()
    leaves = [body.emit(Op.EXTRACT, value.type.leaves[i].scalar, (value,), node, i) for i in range(count)]
    given = [part] if isinstance(part.type, Scalar) else [
        body.emit(Op.EXTRACT, leaf.scalar, (part,), node, i) for i, leaf in enumerate(new)
    ]  # fmt: skip
    for number, places in enumerate(chosen.choices):
        for place, leaf in zip(places, given, strict=True):
            leaves[place] = leaf if chosen.index is None else body.emit(
                Op.SELECT, leaf.type, (_is(body, chosen, number, node), leaf, leaves[place]), node
            )  # fmt: skip
    return body.emit(Op.MAKE, value.type, tuple(leaves), node)


def visited(body: Body, keys: list[ast.expr]) -> list[Operand | Span]:
    """Evaluate indices and slices as Python does: all of them in order, before any is checked."""
    given: list[Operand | Span] = []
    for node in keys:
        if isinstance(node, ast.Slice):
            parts = [None if part is None else body.visit(part) for part in (node.lower, node.upper, node.step)]
            given.append(Span(node, *parts))
        else:
            index: Operand = body.visit(node)
            check_integer(body, index, node)
            given.append(index)
    return given


def key(body: Body, given: Operand | Span, node: ast.expr, length: int, whole: ast.Subscript) -> Key:
    """Check an index, or read a slice, of something whose length the build knows."""
    if isinstance(given, Span):
        ends = [_known(body, one, given.node) for one in (given.lower, given.upper, given.step)]
        if ends[2] == 0:
            raise body.error(mistakes.ZERO_STEP, ZERO_STEP, node)
        return range(length)[slice(*ends)]
    if isinstance(given, Literal):
        number = int(given.value)
        if not -length <= number < length:
            raise body.error(
                mistakes.INDEX_OUTSIDE, f"'{text(whole.value)}' has components 0 to {length - 1}, not {number}", node
            )
        return number % length
    index = body.materialise(given, node)
    assert isinstance(index.type, Scalar)
    return bounds(body, index, body.builder.constant(index.type, min(length, 2 ** (index.type.bits - 1) - 1)),
                  text(whole.value), whole)  # fmt: skip


def check_integer(body: Body, index: Operand, node: ast.expr) -> None:
    """Refuse what is no integer."""
    if isinstance(index, Value):
        integer = isinstance(index.type, Scalar) and index.type.is_integer
    else:
        integer = isinstance(index, Weak) and all(type(one.value) is int for one in outcomes(index))
    if isinstance(index, Choice) and any(one.value < 0 for one in outcomes(index)):
        raise body.error(
            mistakes.INDEX_AT_RUN, "a negative index that only the run chooses cannot count from the end", node,
            "write the index in each case of an if",
        )  # fmt: skip
    if not integer:
        raise body.error(
            mistakes.INDEX_TYPE, f"an index is an integer, and this is {describe(index)}", node,
            f"int({text(node)})" if isinstance(index, Value | Weak) else "",
        )  # fmt: skip


def bounds(body: Body, index: Value, length: Value, subject: str, node: ast.AST, kind: str = "index") -> Value:
    """Check an index against a length, when the kernel runs; the narrower of both is widened."""
    assert isinstance(index.type, Scalar)
    assert isinstance(length.type, Scalar)
    if index.type.bits < length.type.bits:
        index = body.emit(Op.CAST, length.type, (index,), node)
    elif index.type != length.type:
        length = body.emit(Op.CAST, index.type, (length,), node)
    return body.emit(Op.BOUNDS, index.type, (index, length), node, body.site(kind, subject, node))


def describe_type(kind: Type) -> str:
    """Say what a value of the type is."""
    return f"a {kind!r}"


def _known(body: Body, bound: Operand | None, node: ast.Slice) -> int | None:
    """An end or the step of a slice, as a number."""
    if bound is None:
        return None
    if isinstance(bound, Literal) and type(bound.value) is int:
        return int(bound.value)
    raise body.error(
        mistakes.INDEX_AT_RUN, "a slice of a vector or matrix goes from number to number", node,
        "its length is part of the type of what it gives: write numbers, or sn.static(…)",
    )  # fmt: skip


def _numbers(kind: Composite, leaves: range, chosen: Key) -> Selection:
    """One or several of a row of numbers."""
    if isinstance(chosen, int):
        return Selection(kind.scalar, ((leaves[chosen],),))
    if isinstance(chosen, Value):
        return Selection(kind.scalar, tuple((leaf,) for leaf in leaves), chosen)
    return Selection(kind.vector(len(chosen)), (tuple(leaves[i] for i in chosen),))


def _of_matrix(kind: Matrix, keys: list[Key]) -> list[Selection]:
    rows = [range(r * kind.cols, (r + 1) * kind.cols) for r in range(kind.rows)]
    first = keys[0]
    row = kind.vector(kind.cols)
    if isinstance(first, Value):
        chosen = [Selection(row, tuple(tuple(one) for one in rows), first)]
        return chosen if len(keys) == 1 else [*chosen, _numbers(row, range(kind.cols), keys[1])]
    if isinstance(first, int):
        return [Selection(row, (tuple(rows[first]),)) if len(keys) == 1 else _numbers(row, rows[first], keys[1])]
    second = keys[1] if len(keys) > 1 else range(kind.cols)
    if isinstance(second, range):
        leaves = tuple(rows[r][c] for r in first for c in second)
        shape = (len(first), len(second)) if leaves else (0, 0)  # what has no numbers is one type
        return [Selection(kind.matrix(*shape), (leaves,))]
    columns = range(kind.cols) if isinstance(second, Value) else [second]
    choices = tuple(tuple(rows[r][c] for r in first) for c in columns)
    return [Selection(kind.vector(len(first)), choices, second if isinstance(second, Value) else None)]


def _taken(body: Body, value: Value, leaves: Leaves, kind: Type, node: ast.AST) -> Value:
    assert value.type is not None
    if leaves == tuple(range(leaves[0], leaves[0] + len(leaves))) if leaves else False:
        return body.emit(Op.EXTRACT, kind, (value,), node, leaves[0])
    scalars = (body.emit(Op.EXTRACT, value.type.leaves[i].scalar, (value,), node, i) for i in leaves)
    return body.emit(Op.MAKE, kind, tuple(scalars), node)


def _is(body: Body, chosen: Selection, number: int, node: ast.AST) -> Value:
    assert chosen.index is not None
    assert isinstance(chosen.index.type, Scalar)
    return body.emit(Op.EQ, bool_, (chosen.index, body.builder.constant(chosen.index.type, number)), node)
