"""Names, subscripts and attributes: what can be read, and what of it can be assigned."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sim_node.compiler.frontend.agree import components, text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.capture import OutsideError, captured, member
from sim_node.compiler.frontend.known import UnknownError, python
from sim_node.compiler.frontend.operand import Operand, Static, Weak, outcomes
from sim_node.compiler.frontend.outside import known
from sim_node.compiler.frontend.scope import suggestion
from sim_node.compiler.frontend.variables import assign, recall
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, Vector, bool_, int32
from sim_node.errors import BuildNameError, BuildTypeError, UnsupportedError

AXES = "xyzw"


@dataclass(frozen=True, slots=True)
class Name:
    """A variable of the function."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, or a component of one, by number or by a checked index."""

    array: Value
    index: Value
    component: int | Value | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a vector; ``owner`` is the variable that holds the vector, if one does."""

    vector: Value
    component: int | Value
    owner: str | None


Place = Name | Element | Component


def place(body: Body, node: ast.AST) -> Place | Operand:
    """Find what a name, subscript or attribute denotes; any other expression is just its operand."""
    if isinstance(node, ast.Name):
        return Name(node.id) if node.id in body.scope.locals else captured(body, node)
    if isinstance(node, ast.Subscript):
        return _subscript(body, node)
    if isinstance(node, ast.Attribute):
        return _attribute(body, node)
    operand: Operand = body.visit(node)
    return operand


def load(body: Body, node: ast.expr) -> Operand:
    """Read a name, subscript or attribute."""
    return read(body, place(body, node), node)


def read(body: Body, spot: Place | Operand, node: ast.AST) -> Operand:
    """Read a place that was found."""
    if isinstance(spot, Name):
        return recall(body, spot.name, node)
    if isinstance(spot, Component):
        return _pick(body, spot.vector, spot.component, node)
    if not isinstance(spot, Element):
        return spot
    assert isinstance(spot.array.type, ArrayType)
    element = spot.array.type.dtype
    if isinstance(spot.component, int):
        return body.emit(Op.LOAD, element.scalar, (spot.array, spot.index), node, spot.component)
    whole = body.emit(Op.LOAD, element, (spot.array, spot.index), node)
    return whole if spot.component is None else _pick(body, whole, spot.component, node)


def store(body: Body, spot: Place | Operand, operand: Operand, node: ast.AST, source: ast.AST) -> None:
    """Assign to a place; ``source`` is the syntax of what is assigned."""
    if isinstance(spot, Name):
        assign(body, spot.name, operand, node, source)
    elif isinstance(spot, Component) and spot.owner is not None:
        assert isinstance(spot.vector.type, Vector)
        value = body.convert(operand, spot.vector.type.scalar, source, f"a component of {spot.owner}")
        changed = _replace(body, spot.vector, spot.component, value, node)
        body.builder.write(spot.owner, changed)
    elif isinstance(spot, Element):
        _store_element(body, spot, operand, node, source)
    else:
        raise body.error(
            UnsupportedError, f"'{text(node)}' cannot be assigned", node,
            "assign to a variable, an element of an array, or a component of those",
        )  # fmt: skip


def _subscript(body: Body, node: ast.Subscript) -> Place | Operand:
    base = place(body, node.value)
    if isinstance(base, Element) and base.component is None and isinstance(_dtype(base), Vector):
        return Element(base.array, base.index, _component(body, _dtype(base).length, node))
    thing = read(body, base, node.value)
    if isinstance(thing, tuple):
        return _part(body, thing, node)
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType):
        return Element(thing, _index(body, thing, node))
    if isinstance(thing, Value) and isinstance(thing.type, Vector):
        owner = base.name if isinstance(base, Name) else None
        return Component(thing, _component(body, thing.type.length, node), owner)
    if isinstance(thing, Static) and not known(thing.value):
        raise body.outside(thing, node.value)
    raise body.error(
        BuildTypeError, f"'{text(node.value)}' is {describe(thing)}, and has no elements", node,
        "index an array or a vector",
    )  # fmt: skip


def _attribute(body: Body, node: ast.Attribute) -> Place | Operand:
    try:
        return captured(body, node)
    except OutsideError:
        base = place(body, node.value)
    if isinstance(base, Element) and base.component is None and isinstance(_dtype(base), Vector):
        return Element(base.array, base.index, _axis(body, _dtype(base), node))
    thing = read(body, base, node.value)
    if isinstance(thing, Static):
        return member(body, thing.value, node)
    if isinstance(thing, Value) and isinstance(thing.type, Vector):
        owner = base.name if isinstance(base, Name) else None
        return Component(thing, _axis(body, thing.type, node), owner)
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType) and node.attr == "dtype":
        return Static(thing.type.dtype)
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType) and node.attr == "shape":
        return (body.emit(Op.LENGTH, int32, (thing,), node),)
    known = ["shape", "dtype"] if isinstance(thing, Value) and isinstance(thing.type, ArrayType) else []
    raise body.error(
        BuildNameError, f"'{text(node.value)}' is {describe(thing)}, which has no '{node.attr}'", node,
        suggestion(node.attr, known, text(node.value) + ".{}") or _without_attributes(thing, text(node.value)),
    )  # fmt: skip


def _without_attributes(thing: Operand, written: str) -> str:
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType):
        return f"an array has a fixed length, len({written}), and elements, {written}[i]"
    return f"call functions on numbers, as in sn.sqrt({written}) and sn.int32({written})"


def _dtype(element: Element) -> Scalar | Vector:
    assert isinstance(element.array.type, ArrayType)
    return element.array.type.dtype


def _axis(body: Body, vector: Scalar | Vector, node: ast.Attribute) -> int:
    axes = AXES[: vector.length]
    if len(node.attr) != 1 or node.attr not in axes:
        raise body.error(
            BuildNameError, f"{vector!r} has no '{node.attr}'; its components are {', '.join(axes)}", node,
            "funcs of vectors are called as sn.length(v), sn.dot(a, b), …",
        )  # fmt: skip
    return AXES.index(node.attr)


def _part(body: Body, parts: tuple[Operand, ...], node: ast.Subscript) -> Operand:
    try:
        index = python(body.visit(node.slice))
    except UnknownError:
        index = None
    if type(index) is not int or not -len(parts) <= index < len(parts):
        raise body.error(
            UnsupportedError, f"the index into a tuple is a number from 0 to {len(parts) - 1}", node.slice,
            "pass the numbers as an array parameter to index them at run time",
        )  # fmt: skip
    return parts[index]


def _checked_literal(body: Body, index: Operand, node: ast.expr, of: str) -> None:
    """Refuse what cannot be an index, as far as the build knows."""
    known = [number.value for number in outcomes(index)] if isinstance(index, Weak) else []
    for number in known:
        if type(number) is int and number < 0:
            raise body.error(
                UnsupportedError, "a negative index counts from the end in Python, and kernels refuse it", node,
                f"len({of}) - {-number}",
            )  # fmt: skip
    integer = _integer(index) if isinstance(index, Value) else {type(number) for number in known} == {int}
    if not integer:
        raise body.error(
            BuildTypeError, f"an index is one integer, and this is {describe(index)}", node,
            f"int({text(node)})" if isinstance(index, Value | Weak) else "arrays have one index in this version",
        )  # fmt: skip


def _integer(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_integer


def _bounds(body: Body, index: Value, length: Value, subject: str, node: ast.AST) -> Value:
    if index.type != length.type:
        length = body.emit(Op.CAST, index.type, (length,), node)
    return body.emit(Op.BOUNDS, index.type, (index, length), node, body.site("index", subject, node))


def _index(body: Body, array: Value, node: ast.Subscript) -> Value:
    index = body.visit(node.slice)
    _checked_literal(body, index, node.slice, text(node.value))
    value = body.materialise(index, node.slice)
    length = body.emit(Op.LENGTH, int32, (array,), node)
    return _bounds(body, value, length, text(node.value), node)


def _component(body: Body, length: int, node: ast.Subscript) -> int | Value:
    index = body.visit(node.slice)
    _checked_literal(body, index, node.slice, text(node.value))
    try:
        known = python(index)
    except UnknownError:
        known = None
    if known is not None:
        if not 0 <= known < length:
            raise body.error(
                BuildTypeError, f"'{text(node.value)}' has components 0 to {length - 1}, not {known}", node.slice
            )
        return int(known)
    index = body.materialise(index, node.slice)
    assert isinstance(index.type, Scalar)
    return _bounds(body, index, body.builder.constant(index.type, length), text(node.value), node)


def _pick(body: Body, vector: Value, component: int | Value, node: ast.AST) -> Value:
    assert isinstance(vector.type, Vector)
    if isinstance(component, int):
        return body.emit(Op.EXTRACT, vector.type.scalar, (vector,), node, component)
    first, *others = components(body, vector, node)
    for number, other in enumerate(others, 1):
        first = body.emit(Op.SELECT, other.type, (_is(body, component, number, node), other, first), node)
    return first


def _replace(body: Body, vector: Value, component: int | Value, value: Value, node: ast.AST) -> Value:
    parts = list(components(body, vector, node))
    for number, part in enumerate(parts):
        if component == number:
            parts[number] = value
        elif isinstance(component, Value):
            parts[number] = body.emit(Op.SELECT, part.type, (_is(body, component, number, node), value, part), node)
    return body.emit(Op.VECTOR, vector.type, tuple(parts), node)


def _is(body: Body, component: Value, number: int, node: ast.AST) -> Value:
    assert isinstance(component.type, Scalar)
    return body.emit(Op.EQ, bool_, (component, body.builder.constant(component.type, number)), node)


def _store_element(body: Body, spot: Element, operand: Operand, node: ast.AST, source: ast.AST) -> None:
    dtype, component = _dtype(spot), spot.component
    at = (spot.array, spot.index)
    value = body.convert(operand, dtype if component is None else dtype.scalar, source, "an element of {}", node)
    if isinstance(component, Value):
        whole = body.emit(Op.LOAD, dtype, at, node)
        value, component = _replace(body, whole, component, value, node), None
    body.emit(Op.STORE, None, (*at, value), node, component)


VISITORS: dict[type[ast.AST], Visit] = {ast.Name: load, ast.Subscript: load, ast.Attribute: load}
