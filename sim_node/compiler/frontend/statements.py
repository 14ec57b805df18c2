"""Statements without control flow of their own, and return, assert and if."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.calls import call
from sim_node.compiler.frontend.comparisons import COMPARE
from sim_node.compiler.frontend.coordinates import coordinates, is_tid
from sim_node.compiler.frontend.logic import as_value, condition
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.operators import BINARY, binary
from sim_node.compiler.frontend.places import Name, load, place, read, store
from sim_node.compiler.frontend.spread import written
from sim_node.compiler.frontend.targets import assign_to
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar
from sim_node.errors import mistakes
from sim_node.lang.annotation import annotation


def assignment(body: Body, node: ast.Assign) -> None:
    """Lower ``a = b = value``: the value once, then the targets from left to right."""
    operand = body.visit(node.value)
    first = node.targets[0]
    if is_tid(operand, node.value) and isinstance(first, (ast.Tuple, ast.List)):
        body.dims = 0 if body.dims == 1 else body.dims
        operand = coordinates(body, len(first.elts), node.value)
    for target in node.targets:
        assign_to(body, target, operand, node.value)


def annotated(body: Body, node: ast.AnnAssign) -> None:
    """Lower ``a: type = value``, which fixes a variable's type."""
    written = body.visit(node.annotation)
    kind = annotation(written.value) if isinstance(written, Static) else "it is no type"
    if not isinstance(node.target, ast.Name) or isinstance(kind, (str, ArrayType)):
        raise body.error(
            mistakes.ANNOTATION, "only variables are annotated, with a scalar or vector type", node,
            "x: float = …, or x: sn.vec3 = …",
        )  # fmt: skip
    if node.value is None:
        raise body.error(
            mistakes.ANNOTATION, "an annotation alone assigns nothing", node, "give a value: x: float = 0.0"
        )
    operand = body.visit(node.value)
    name = node.target.id
    value = body.convert(operand, kind, node.value, f"'{name}'")
    if name in body.variables:
        store(body, Name(name), value, node.target, node.value)
    else:
        body.declare(name, value, node.target)


def augmented(body: Body, node: ast.AugAssign) -> None:
    """Lower ``place op= value``: the place is found once."""
    row = BINARY[type(node.op)]
    spot = place(body, node.target)
    before = read(body, spot, node.target)
    operand = body.visit(node.value)
    result = binary(body, row, node, (before, node.target), (operand, node.value))
    store(body, spot, result, node.target, node)


def expression(body: Body, node: ast.Expr) -> None:
    """Lower a call made for what it does, or the one of two that a condition chooses; a docstring does nothing."""
    if isinstance(node.value, ast.Call):
        call(body, node.value)
    elif isinstance(node.value, ast.IfExp):
        yes, no = ([ast.copy_location(ast.Expr(side), side)] for side in (node.value.body, node.value.orelse))
        branch(body, ast.copy_location(ast.If(node.value.test, list(yes), list(no)), node))
    elif not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
        body.visit(node.value)  # which may be refused for a better reason
        raise body.error(
            mistakes.UNUSED, f"'{text(node.value)}' is computed and not used", node, "assign it, or delete it"
        )


def named(body: Body, node: ast.NamedExpr) -> Operand:
    """Lower ``name := value``."""
    operand = body.visit(node.value)
    store(body, Name(node.target.id), operand, node.target, node.value)
    return load(body, node.target)


def returning(body: Body, node: ast.Return) -> None:
    """Lower return. The types of all returns are settled together at the end of the function."""
    operand = None
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        if body.kernel:
            raise body.error(
                mistakes.KERNEL_RETURNS, "a kernel returns nothing", node, "write the result into an array"
            )
        operand = body.visit(node.value)
        if isinstance(operand, Value) and isinstance(operand.type, ArrayType):
            raise body.error(mistakes.NO_VALUE, f"a func cannot return {describe(operand)}", node, "return a value")
    draft = body.builder.current
    assert draft is not None
    body.returns.append((draft, operand, node))
    body.builder.current = None


_COMPARISONS = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE})


def assertion(body: Body, node: ast.Assert) -> None:
    """Lower assert: the thread stops where the condition is false, with the message if it is plain text."""
    message = text(node.test)
    if node.msg is not None:
        if not (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            raise body.error(
                mistakes.ASSERT_TEXT, "the message of an assert is plain text in a kernel", node.msg, '"…"'
            )
        message = node.msg.value
    truth = condition(body, node.test)
    if isinstance(truth, Literal) and truth.value:
        return
    value, symbol = as_value(body, truth), compared(node.test)
    kind = value.args[0].type if value.op in _COMPARISONS else None
    if symbol and isinstance(kind, Scalar):
        body.check(value, f"assert {kind!r} {symbol}", message, node, value.args)
    else:
        body.check(value, "assert", message, node)


def compared(test: ast.expr) -> str:
    """The operator of a condition that compares two values, of which an error then tells; nothing for any other."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or type(test.ops[0]) not in COMPARE:
        return ""
    return COMPARE[type(test.ops[0])][0]


def branch(body: Body, node: ast.If) -> None:
    """Lower if / else. A condition known now leaves only the statements that apply."""
    truth = condition(body, node.test)
    if isinstance(truth, Literal):
        body.visit_all(node.body if truth.value else node.orelse)
        return
    builder = body.builder
    paths = [f"when the condition in line {node.test.lineno} is {word}" for word in ("true", "false")]
    join = builder.block("join")
    yes = builder.block("true", paths[0])
    no = builder.block("false", paths[1]) if node.orelse else join
    builder.branch(truth, yes, no, body.location(node), paths[1])
    for block, statements in ((yes, node.body), (no, node.orelse)):
        if statements:
            builder.enter(block)
            body.visit_all(statements)
            if builder.current is not None:
                builder.jump(join)
    builder.enter(join)


def nothing(_: Body, __: ast.Pass) -> None:
    """Lower pass."""


def constant(body: Body, node: ast.Constant) -> Operand:
    """Lower a literal number or bool."""
    if isinstance(node.value, (bool, int, float)):
        return Literal(node.value)
    names = {str: "text", bytes: "bytes", complex: "a complex number", type(None): "None", type(...): "..."}
    raise body.error(
        mistakes.NOT_IN_LANGUAGE,
        f"{names[type(node.value)]} is no value in a kernel",
        node,
        "kernels compute with numbers",
    )


def elements(body: Body, node: ast.Tuple) -> Operand:
    """Lower ``a, b``."""
    return tuple(operand for operand, _ in written(body, node.elts))


VISITORS: dict[type[ast.AST], Visit] = {
    ast.Assign: assignment,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.NamedExpr: named,
    ast.Expr: expression,
    ast.Return: returning,
    ast.Assert: assertion,
    ast.If: branch,
    ast.Pass: nothing,
    ast.Constant: constant,
    ast.Tuple: elements,
}
