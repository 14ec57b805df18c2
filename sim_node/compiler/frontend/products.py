"""Products of matrices and vectors, of quaternions and of transforms. Sums run from the first term to the last."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import numbers
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.funcs import invoke_value
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Composite, Matrix, Quaternion, Transform, Type, Vector
from sim_node.lang.library import rotation


def product(body: Body, a: Value, b: Value, node: ast.AST) -> Value | None:
    """Lower ``a * b`` of composites; None where it has no meaning."""
    left, right = a.type, b.type
    assert isinstance(left, Composite)
    assert isinstance(right, Composite)
    if left is right or left == right:
        if isinstance(left, Quaternion):
            return invoke_value(body, rotation.quat_multiply, (a, b), node)
        if isinstance(left, Transform):
            return invoke_value(body, rotation.transform_multiply, (a, b), node)
    kind = _shape(left, right)
    return None if kind is None else _sums(body, a, b, kind, node)


def _shape(left: Composite, right: Composite) -> Type | None:
    """The type of a product that has a matrix on one side at least."""
    if left.scalar != right.scalar:
        return None
    if isinstance(left, Matrix) and isinstance(right, Matrix) and left.cols == right.rows:
        return left.matrix(left.rows, right.cols)
    if isinstance(left, Matrix) and isinstance(right, Vector) and left.cols == right.length:
        return left.vector(left.rows)
    if isinstance(left, Vector) and isinstance(right, Matrix) and left.length == right.rows:
        return left.vector(right.cols)
    return None


def _sums(body: Body, a: Value, b: Value, kind: Type, node: ast.AST) -> Value:
    left, right = a.type, b.type
    assert isinstance(left, Composite)
    assert isinstance(right, Composite)
    inner = left.shape[-1]
    width = right.cols if isinstance(right, Matrix) else 1
    first, second = numbers(body, a, node), numbers(body, b, node)
    leaves = []
    for row in range(left.length // inner):
        for col in range(width):
            terms = [(first[row * inner + k], second[k * width + col]) for k in range(inner)]
            total, *others = [body.emit(Op.MUL, left.scalar, term, node) for term in terms]
            for other in others:
                total = body.emit(Op.ADD, left.scalar, (total, other), node)
            leaves.append(total)
    return body.emit(Op.MAKE, kind, tuple(leaves), node)
