"""Names, subscripts and attributes: what can be read, and what of it can be assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sim_node.compiler.frontend import arrays, selection
from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.capture import OutsideError, captured, member
from sim_node.compiler.frontend.known import UnknownError, python
from sim_node.compiler.frontend.layouts import extent
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.outside import known
from sim_node.compiler.frontend.scope import suggestion
from sim_node.compiler.frontend.selection import Selection
from sim_node.compiler.frontend.variables import assign, recall
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Composite, Type, pointer, uint64
from sim_node.errors import mistakes


@dataclass(frozen=True, slots=True)
class Name:
    """A variable of the function."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """Something in memory: an element of an array, or a part of one."""

    pointer: Value
    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the value that another place holds, or of one that no place does."""

    whole: Place | None
    value: Value
    chosen: Selection


Place = Name | Element | Part


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
    if isinstance(spot, Part):
        return selection.read(body, spot.value, spot.chosen, node)
    if isinstance(spot, Element):
        return body.emit(Op.LOAD, spot.type, (spot.pointer,), node, spot.offset)
    return spot


def store(body: Body, spot: Place | Operand, operand: Operand, node: ast.AST, source: ast.AST) -> None:
    """Assign to a place; ``source`` is the syntax of what is assigned."""
    if isinstance(spot, Name):
        assign(body, spot.name, operand, node, source)
    elif isinstance(spot, Element):
        value = body.convert(operand, spot.type, source, "an element of {}", node)
        body.emit(Op.STORE, None, (spot.pointer, value), node, spot.offset)
    elif isinstance(spot, Part) and spot.whole is not None:
        value = body.convert(operand, spot.chosen.type, source, "a part of {}", _array_of(node))
        store(body, spot.whole, selection.replaced(body, spot.value, spot.chosen, value, node), node, source)
    else:
        raise body.error(
            mistakes.TARGET, f"'{text(node)}' cannot be assigned", node,
            "assign to a variable, an element of an array, or a component of those",
        )  # fmt: skip


def _array_of(node: ast.AST) -> ast.AST:
    return node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else node


def _subscript(body: Body, node: ast.Subscript) -> Place | Operand:
    base = place(body, node.value)
    kind = _type(body, base)
    if selection.has_items(kind):
        spot: Place | Operand = base
        for chosen in selection.subscript(body, kind, node):  # type: ignore[arg-type]
            spot = _part(body, spot, chosen, node)
        return spot
    thing = read(body, base, node.value)
    if isinstance(thing, tuple):
        return _item(body, thing, node)
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType):
        found = arrays.subscript(body, thing, node)
        return Element(found.pointer, found.offset, thing.type.dtype) if isinstance(found, arrays.Address) else found
    if isinstance(thing, Static) and not known(thing.value):
        raise body.outside(thing, node.value)
    raise body.error(
        mistakes.NO_ELEMENTS, f"'{text(node.value)}' is {describe(thing)}, and has no elements", node,
        "index an array or a vector",
    )  # fmt: skip


def _attribute(body: Body, node: ast.Attribute) -> Place | Operand:
    try:
        return captured(body, node)
    except OutsideError:
        base = place(body, node.value)
    kind = _type(body, base)
    if isinstance(kind, Composite) and node.attr in _OF_TYPE:
        return _OF_TYPE[node.attr](kind)
    chosen = None if kind is None else selection.attribute(body, kind, node)
    if chosen is not None:
        return _part(body, base, chosen, node)
    thing = read(body, base, node.value)
    if isinstance(thing, Static):
        return member(body, thing.value, node)
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType) and node.attr in ARRAY:
        return ARRAY[node.attr](body, thing, node)
    names = list(ARRAY) if isinstance(thing, Value) and isinstance(thing.type, ArrayType) else []
    raise body.error(
        mistakes.UNKNOWN_ATTRIBUTE, f"'{text(node.value)}' is {describe(thing)}, which has no '{node.attr}'", node,
        suggestion(node.attr, names, text(node.value) + ".{}") or _without_attributes(thing, text(node.value)),
    )  # fmt: skip


# What a composite value has of its type.
_OF_TYPE: dict[str, Callable[[Composite], Operand]] = {
    "dtype": lambda kind: Static(kind.scalar),
    "length": lambda kind: Literal(kind.length),
    "shape": lambda kind: tuple(map(Literal, kind.shape)),
}


def _type(body: Body, spot: Place | Operand) -> Type | None:
    """The type of what a place holds; None where that is no value of one."""
    if isinstance(spot, Name):
        variable = body.variables.get(spot.name)
        return None if variable is None or variable.static is not None else variable.type
    if isinstance(spot, Element):
        return spot.type
    if isinstance(spot, Part):
        return spot.chosen.type
    return spot.type if isinstance(spot, Value) else None


def _part(body: Body, whole: Place | Operand, chosen: Selection, node: ast.AST) -> Place:
    """A part of what a place holds. In memory it is a place of its own where its leaves lie one after the other."""
    if isinstance(whole, Element):
        leaves = whole.type.leaves
        starts = [leaves[choice[0]].offset for choice in chosen.choices if choice]
        strides = {after - before for before, after in pairwise(starts)}
        dense = all(choice == tuple(range(choice[0], choice[0] + len(choice))) for choice in chosen.choices if choice)
        if dense and starts and chosen.index is None:
            return Element(whole.pointer, whole.offset + starts[0], chosen.type)
        if dense and len(strides) == 1 and chosen.index is not None:
            moved = body.emit(Op.OFFSET, pointer, (whole.pointer, chosen.index), node, strides.pop())
            return Element(moved, whole.offset + starts[0], chosen.type)
    value = read(body, whole, node)
    assert isinstance(value, Value)
    return Part(whole if isinstance(whole, (Name, Element, Part)) else None, value, chosen)


def _shape(body: Body, array: Value, node: ast.AST) -> Operand:
    assert isinstance(array.type, ArrayType)
    return tuple(extent(body, array, d, node) for d in range(array.type.ndim))


def _address(body: Body, array: Value, node: ast.AST) -> Operand:
    return body.emit(Op.CAST, uint64, (body.emit(Op.EXTRACT, pointer, (array,), node, 0),), node)


def _dtype(_: Body, array: Value, __: ast.AST) -> Operand:
    assert isinstance(array.type, ArrayType)
    return Static(array.type.dtype)


def _ndim(_: Body, array: Value, __: ast.AST) -> Operand:
    assert isinstance(array.type, ArrayType)
    return Literal(array.type.ndim)


# What an array tells of itself.
ARRAY = {"shape": _shape, "ndim": _ndim, "dtype": _dtype, "ptr": _address}


def _without_attributes(thing: Operand, written: str) -> str:
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType):
        return f"an array has a fixed length, len({written}), and elements, {written}[i]"
    return f"call functions on numbers, as in sn.sqrt({written}) and sn.int32({written})"


def _item(body: Body, parts: tuple[Operand, ...], node: ast.Subscript) -> Operand:
    count = len(parts)
    try:
        index = python(body.visit(node.slice))
    except UnknownError:
        index = None
    if type(index) is not int or not -count <= index < count:
        raise body.error(
            mistakes.INDEX_AT_RUN, f"the index into a tuple is a number from 0 to {count - 1}", node.slice,
            "pass the numbers as an array parameter to index them at run time",
        )  # fmt: skip
    return parts[index]


VISITORS: dict[type[ast.AST], Visit] = {ast.Name: load, ast.Subscript: load, ast.Attribute: load}
