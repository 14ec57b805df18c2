"""while, for over range, break and continue."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sim_node.compiler.frontend.agree import agree
from sim_node.compiler.frontend.body import Body, Loop, Visit
from sim_node.compiler.frontend.logic import condition
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.places import assign
from sim_node.compiler.frontend.ssa import Draft
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import SCALARS, Kind, Scalar, bool_
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError


def while_loop(body: Body, node: ast.While) -> None:
    """Lower while: the condition is the head of the loop."""
    _no_else(body, node)
    builder = body.builder
    head = builder.block("head")
    after = builder.block("after")
    builder.jump(head, f"before the first iteration of the loop in line {node.lineno}")
    builder.enter(head, seal=False)
    truth = condition(body, node.test)
    if isinstance(truth, Value):
        inside = builder.block("body", f"in the loop in line {node.lineno}")
        builder.branch(truth, inside, after, body.location(node))
        builder.enter(inside)
    elif not truth.value:
        builder.jump(after)
    if builder.current is not None:
        _run(body, node, Loop(after, head))
        if builder.current is not None:
            builder.jump(head)
    builder.seal(head)
    builder.enter(after)


def _run(body: Body, node: ast.While | ast.For, loop: Loop) -> None:
    body.loops.append(loop)
    body.visit_all(node.body)
    body.loops.pop()


def _no_else(body: Body, node: ast.While | ast.For) -> None:
    if node.orelse:
        raise body.error(
            UnsupportedError,
            "'else' of a loop is refused",
            node.orelse[0],
            "set a bool before break, and test it below",
        )


@dataclass(frozen=True, slots=True)
class Range:
    """The operands of a range, of one integer type, and its step where the build knows it."""

    start: Value
    stop: Value
    step: Value
    scalar: Scalar
    known: int | None

    @property
    def nonempty(self) -> bool:
        """Whether the build knows that there is a first iteration."""
        start, stop = self.start.attr, self.stop.attr
        constant = self.start.op is Op.CONST and self.stop.op is Op.CONST and self.known is not None
        return constant and len(range(int(start or 0), int(stop or 0), self.known or 1)) > 0


def for_loop(body: Body, node: ast.For) -> None:
    """Lower ``for name in range(…)``.

    The count is a variable of its own, so that assigning the name inside changes nothing, and the name keeps its last
    value. The test is at the foot of the loop and compares what is left with the step, so the count never overflows.
    """
    _no_else(body, node)
    over = _range(body, node)
    builder, line = body.builder, node.lineno
    first = f"before the first iteration of the loop in line {line}"
    inside, foot, after = (
        builder.block("body", f"in the loop in line {line}"),
        builder.block("foot"),
        builder.block("after"),
    )
    count = object()
    builder.write(count, over.start)
    if over.nonempty:
        builder.jump(inside, first)
    else:
        enters = _before(body, over, over.start, node)
        builder.branch(enters, inside, after, body.location(node), f"when the loop in line {line} makes no iteration")
    builder.enter(inside, seal=False)
    now = builder.read(count)
    assign(body, _name(body, node), now, node.target, node.target)
    _run(body, node, Loop(after, foot))
    if builder.current is not None:
        builder.jump(foot)
    builder.enter(foot)
    if builder.current is not None:
        now = builder.read(count)
        again = _another(body, over, now, node)
        builder.write(count, body.emit(Op.ADD, over.scalar, (now, over.step), node))
        builder.branch(again, inside, after, body.location(node))
    builder.seal(inside)
    builder.enter(after)


def _name(body: Body, node: ast.For) -> str:
    if not isinstance(node.target, ast.Name):
        raise body.error(UnsupportedError, "a loop over a range has one name", node.target, "for i in range(n):")
    return node.target.id


def _range(body: Body, node: ast.For) -> Range:
    call = node.iter
    callee = body.visit(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(callee, Static) or callee.value is not range:
        raise body.error(
            UnsupportedError, "a for loop runs over a range", node.iter, "for i in range(len(a)): and then a[i]"
        )
    if call.keywords or not 1 <= len(call.args) <= 3 or any(isinstance(arg, ast.Starred) for arg in call.args):
        raise body.error(BuildTypeError, "range takes 1 to 3 integers", call, "range(stop), range(start, stop, step)")
    given: list[tuple[Operand, ast.AST]] = [(body.visit(arg), arg) for arg in call.args]
    if len(given) == 1:
        given.insert(0, (Literal(0), call))
    if len(given) == 2:
        given.append((Literal(1), call))
    step = given[2][0]
    known = step.value if isinstance(step, Literal) else None
    if known == 0:
        raise body.error(BuildError, "the step of a range is 0", call.args[2], "give the step a direction")
    start, stop, stride = agree(body, "range", call, *given)
    scalar = start.type
    if not isinstance(scalar, Scalar) or not scalar.is_integer:
        raise body.error(BuildTypeError, f"range takes integers, not {scalar!r}", call, "convert: int(…)")
    if known is None:
        nonzero = body.emit(Op.NE, bool_, (stride, body.builder.constant(scalar, 0)), node)
        body.check(nonzero, "assert", "the step of the range is not 0", call)
    return Range(start, stop, stride, scalar, int(known) if known is not None else None)


def _by_direction(body: Body, over: Range, up: Value | None, down: Value | None, node: ast.AST) -> Value:
    """Choose by the sign of the step; one side may be missing where the build knows the sign."""
    if up is None or down is None:
        chosen = up or down
        assert chosen is not None
        return chosen
    rises = body.emit(Op.GT, bool_, (over.step, body.builder.constant(over.scalar, 0)), node)
    return body.emit(Op.SELECT, up.type, (rises, up, down), node)


def _directions(over: Range) -> tuple[bool, bool]:
    """Whether the range may go up, and down."""
    if over.scalar.kind is Kind.UINT:
        return True, False
    return over.known is None or over.known > 0, over.known is None or over.known < 0


def _before(body: Body, over: Range, now: Value, node: ast.AST) -> Value:
    """Whether the count is still before the stop."""
    up, down = _directions(over)
    below = body.emit(Op.LT, bool_, (now, over.stop), node) if up else None
    above = body.emit(Op.GT, bool_, (now, over.stop), node) if down else None
    return _by_direction(body, over, below, above, node)


def _another(body: Body, over: Range, now: Value, node: ast.AST) -> Value:
    """Whether one step more is still before the stop; the count is before it now."""
    if over.known in (1, -1):
        return _before(body, over, body.emit(Op.ADD, over.scalar, (now, over.step), node), node)
    unsigned = next(s for s in SCALARS if s.kind is Kind.UINT and s.bits == over.scalar.bits)
    up, down = _directions(over)

    def distance(a: Value, b: Value) -> Value:
        return _unsigned(body, body.emit(Op.SUB, over.scalar, (a, b), node), unsigned, node)

    left = _by_direction(
        body, over, distance(over.stop, now) if up else None, distance(now, over.stop) if down else None, node
    )
    stride = body.emit(Op.ABS, over.scalar, (over.step,), node) if down else over.step
    return body.emit(Op.GT, bool_, (left, _unsigned(body, stride, unsigned, node)), node)


def _unsigned(body: Body, value: Value, unsigned: Scalar, node: ast.AST) -> Value:
    return value if value.type == unsigned else body.emit(Op.CAST, unsigned, (value,), node)


def leave(body: Body, node: ast.Break | ast.Continue) -> None:
    """Lower break and continue."""
    loop = body.loops[-1]
    target: Draft = loop.after if isinstance(node, ast.Break) else loop.again
    body.builder.jump(target)


VISITORS: dict[type[ast.AST], Visit] = {
    ast.While: while_loop,
    ast.For: for_loop,
    ast.Break: leave,
    ast.Continue: leave,
}
