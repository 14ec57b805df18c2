"""How operands come to one type: literals adapt to typed operands, and two different types never mix silently."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.operand import Operand, Static, Weak, default_type, spelled
from sim_node.compiler.frontend.outside import known
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Composite, Matrix, Scalar, Type
from sim_node.errors import BuildError, mistakes

# An operand and the syntax it came from.
Written = tuple[Operand, ast.AST]


def text(node: ast.AST) -> str:
    """Write a piece of syntax as source again."""
    if isinstance(node, ast.Name):  # as most are, and unparsing takes twenty times as long
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{text(node.value)}.{node.attr}"
    return ast.unparse(node)


def sources_of(node: ast.AST, length: int) -> Sequence[ast.AST]:
    """The syntax of each part of a tuple: its own where it was written out."""
    plain = isinstance(node, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in node.elts)
    return node.elts if isinstance(node, ast.Tuple) and plain else [node] * length


def agree(body: Body, what: str, node: ast.AST, *operands: Written) -> tuple[Value, ...]:
    """Give the operands as values of one type; ``what`` names the operation in the error."""
    literals = [operand for operand, _ in operands if isinstance(operand, Weak)]
    typed = [(computed(body, o, at), at) for o, at in operands if not isinstance(o, Weak)]
    if not typed:
        scalar: Type = default_type(*literals)
    else:
        first, first_at = typed[0]
        assert first.type is not None
        scalar = first.type
        for other, other_at in typed[1:]:
            if other.type != scalar:
                raise mismatch(body, what, node, (first, first_at), (other, other_at))
    if literals and not isinstance(scalar, Scalar):
        raise body.error(
            mistakes.MIXED, f"{what} mixes {scalar!r} and a number", node, _splat(scalar),
        )  # fmt: skip
    return tuple(body.convert(operand, scalar, at, "operand") for operand, at in operands)


def _splat(type: Type) -> str:
    return f"{spelled(type)}(…) makes a vector of equal components" if isinstance(type, Composite) else ""


def computed(body: Body, operand: Operand, node: ast.AST) -> Value:
    """Give the operand as a value that can be computed with: no type, module, func, tuple or array."""
    if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
        return operand
    if isinstance(operand, Static) and not known(operand.value):
        raise body.outside(operand, node)
    if isinstance(operand, (Value, Static, tuple)):
        raise body.error(
            mistakes.NO_VALUE, f"'{text(node)}' is {describe(operand)}, not a scalar or vector", node,
            f"index the array: {text(node)}[i]" if isinstance(operand, Value)
            else f"take one of its parts: {text(node)}[0]" if isinstance(operand, tuple) else "",
        )  # fmt: skip
    return body.materialise(operand, node)


def mismatch(
    body: Body, what: str, node: ast.AST, left: tuple[Value, ast.AST], right: tuple[Value, ast.AST]
) -> BuildError:
    """Say that two types meet, and how to convert one of them."""
    (a, a_at), (b, b_at) = left, right
    remedy = started_as_literal(body, a_at, b.type) or started_as_literal(body, b_at, a.type)
    if not remedy and isinstance(a.type, Scalar) and isinstance(b.type, Scalar):
        remedy = f"convert one of them: {spelled(b.type)}({text(a_at)}) or {spelled(a.type)}({text(b_at)})"
    elif not remedy:
        vector, other = (a.type, b) if isinstance(a.type, Composite) else (b.type, a)
        remedy = _splat(vector) if vector is not None and isinstance(other.type, Scalar) else "convert one of them"
        if what in ("'=='", "'!='"):
            remedy += ": Can't test equality for objects with different types"
    return body.error(mistakes.MIXED, f"{what} mixes {a.type!r} and {b.type!r}", node, remedy)


def started_as_literal(body: Body, node: ast.AST, wanted: Type | None) -> str:
    """Advise to type the literal that fixed a variable's type, if the syntax is a variable that one fixed."""
    variable = body.variables.get(node.id) if isinstance(node, ast.Name) else None
    if variable is None or not variable.literal or not isinstance(wanted, Scalar):
        return ""
    assert isinstance(node, ast.Name)
    typed = f"{node.id} = {spelled(wanted)}({variable.literal})"
    return f"give {node.id} its type where it starts, in line {variable.line}: {typed}"


def splat(body: Body, scalar: Value, kind: Composite, node: ast.AST) -> Value:
    """Make a composite of equal components."""
    return body.emit(Op.MAKE, kind, (scalar,) * kind.length, node)


def numbers(body: Body, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """Take a composite apart into its numbers."""
    kind = value.type
    assert isinstance(kind, Composite)
    return tuple(body.emit(Op.EXTRACT, kind.scalar, (value,), node, i) for i in range(kind.length))


def components(body: Body, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """Take a vector apart into its components, and a matrix into its rows."""
    kind = value.type
    assert isinstance(kind, Composite)
    if isinstance(kind, Matrix):
        row = kind.vector(kind.cols)
        return tuple(body.emit(Op.EXTRACT, row, (value,), node, i * kind.cols) for i in range(kind.rows))
    return numbers(body, value, node)
