"""What a kernel captures: Python objects around it become constants, or names of things that exist only at build."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

import numpy as np

import sim_node
from sim_node import dtypes, types
from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.scope import suggestion
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.errors import BuildError, mistakes
from sim_node.lang import builtins
from sim_node.lang.values.structure import StructValue
from sim_node.lang.values.value import Value as HostValue
from sim_node.lang.values.value import type_of

# Outside of kernels these give a type, and in a kernel, as in Warp's, a value of it.
FACTORIES = (
    (types.vector, builtins.vector),
    (types.matrix, builtins.matrix),
    (types.quaternion, builtins.quaternion),
    (types.transformation, builtins.transformation),
)


def capture(body: Body, thing: object, text: str, node: Any) -> Operand:
    """Turn a Python object that a kernel mentions into an operand; ``text`` is how the kernel mentions it.

    What is no number is a ``Static``, whatever it is: whoever uses it says why it cannot be used so.
    """
    if isinstance(thing, np.generic):
        return _scalar(body, thing, text, node)
    if isinstance(thing, (bool, int, float)):
        exact = bool if isinstance(thing, bool) else int if isinstance(thing, int) else float
        return Literal(exact(thing))
    if isinstance(thing, tuple):
        return tuple(capture(body, part, f"{text}[{i}]", node) for i, part in enumerate(thing))
    if isinstance(thing, type) and thing in dtypes.PYTHON:
        return Static(dtypes.PYTHON[thing])
    if isinstance(thing, HostValue) and isinstance(type_of(thing), dtypes.Composite):
        parts = tuple(_scalar(body, part, text, node) for part in np.asarray(thing).reshape(-1))
        return body.emit(Op.MAKE, type_of(thing), parts, node)
    if isinstance(thing, StructValue):
        return _struct(body, thing, text, node)
    made = next((builtin for factory, builtin in FACTORIES if factory is thing), None)
    if made is not None:
        return Static(made)
    if isinstance(thing, np.ndarray) and thing.ndim == 1 and 2 <= len(thing) <= 4 and thing.dtype.kind in "iuf":
        parts = tuple(_scalar(body, part, text, node) for part in thing)
        scalar = dtypes.element(thing.dtype)
        assert isinstance(scalar, dtypes.Scalar)
        return body.emit(Op.MAKE, dtypes.Vector(scalar, len(parts)), parts, node)
    return Static(thing)


def _struct(body: Body, thing: StructValue, text: str, node: Any) -> Value:
    """An instance of a struct is its fields, which are no arrays."""
    kind = type_of(thing)
    parts = []
    for name, field in kind.fields:
        where, value = f"{text}.{name}", getattr(thing, name)
        if isinstance(field, dtypes.ArrayType):
            raise body.error(
                mistakes.NO_VALUE, f"'{where}' is an array outside of the kernel", node,
                f"pass the {kind!r} as a parameter",
            )  # fmt: skip
        parts.append(body.materialise(capture(body, value, where, node), node))
    return body.emit(Op.MAKE, kind, tuple(parts), node)


def _scalar(body: Body, thing: Any, text: str, node: Any) -> Value:
    """A numpy scalar has a type, unlike Python's own numbers."""
    for scalar in dtypes.SCALARS:
        if scalar.numpy == thing.dtype:
            return body.constant(scalar, Literal(thing.item()), node)
    raise body.error(
        mistakes.NO_VALUE, f"'{text}' is a {thing.dtype}, which kernels do not compute with", node,
        f"capture it as one of {', '.join(scalar.name for scalar in dtypes.SCALARS)}",
    )  # fmt: skip


class OutsideError(Exception):
    """The syntax names nothing outside of the function: it is to be computed."""


def captured(body: Body, node: ast.AST) -> Operand:
    """Look up a name that the function does not assign, or an attribute of one: ``math.pi``, ``Mode.FAST.value``.

    Raises OutsideError where that is neither.
    """
    return capture(body, _thing(body, node), text(node), node)


def _thing(body: Body, node: ast.AST) -> Any:
    if isinstance(node, ast.Name) and node.id not in body.scope.locals:
        try:
            return body.scope.lookup(node.id)
        except KeyError:
            what = f"Referencing undefined symbol: {node.id}"
            remedy = f"sn.{node.id}" if node.id in dir(sim_node) else suggestion(node.id, body.scope.names())
            raise body.error(mistakes.UNKNOWN_NAME, what, node, remedy) from None
    if isinstance(node, ast.Attribute):
        owner = _thing(body, node.value)
        if isinstance(owner, (ModuleType, type)) or hasattr(owner, node.attr):
            return _part(body, owner, node)
    raise OutsideError


def member(body: Body, owner: object, node: ast.Attribute) -> Operand:
    """Look up an attribute of something that exists only at build."""
    return capture(body, _part(body, owner, node), text(node), node)


def _part(body: Body, owner: Any, node: ast.Attribute) -> Any:
    try:
        return getattr(owner, node.attr)
    except AttributeError:
        raise _no_member(body, owner, node) from None


def _no_member(body: Body, owner: Any, node: ast.Attribute) -> BuildError:
    known = [public for public in dir(owner) if not public.startswith("_")]
    kind = "module" if isinstance(owner, ModuleType) else "class" if isinstance(owner, type) else "the"
    name = getattr(owner, "__name__", type(owner).__name__)
    return body.error(
        mistakes.UNKNOWN_ATTRIBUTE, f"`{node.attr}` is not an attribute of {kind} '{name}'", node,
        suggestion(node.attr, known, ast.unparse(node.value) + ".{}"),
    )  # fmt: skip
