"""while, for, break and continue."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from sim_node.compiler.frontend import unrolling
from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body, Loop, Visit, describe
from sim_node.compiler.frontend.known import UnknownError, number
from sim_node.compiler.frontend.logic import condition
from sim_node.compiler.frontend.operand import Operand, Static
from sim_node.compiler.frontend.ranges import range_operands
from sim_node.compiler.frontend.ssa import Draft
from sim_node.compiler.frontend.targets import assign_to, parts
from sim_node.compiler.frontend.variables import assign
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import SCALARS, Kind, Scalar, bool_
from sim_node.errors import mistakes


def while_loop(body: Body, node: ast.While) -> None:
    """Lower while: the condition is the head of the loop; ``else`` runs when it is false, and not after break."""
    builder = body.builder
    head, after = builder.block("head"), builder.block("after")
    done = builder.block("done") if node.orelse else after
    builder.jump(head, f"before the first iteration of the loop in line {node.lineno}")
    builder.enter(head, seal=False)
    truth = condition(body, node.test)
    if isinstance(truth, Value):
        inside = builder.block("body", f"in the loop in line {node.lineno}")
        builder.branch(truth, inside, done, body.location(node))
        builder.enter(inside)
    elif not truth.value:
        builder.jump(done)
    if builder.current is not None:
        _run(body, node, Loop(after, head))
        if builder.current is not None:
            builder.jump(head)
    builder.seal(head)
    _finish(body, node, done, after)


def _run(body: Body, node: ast.While | ast.For, loop: Loop) -> None:
    body.loops.append(loop)
    body.visit_all(node.body)
    body.loops.pop()


def _finish(body: Body, node: ast.While | ast.For, done: Draft, after: Draft) -> None:
    """Go on behind a loop: through its else where it was not left by break."""
    builder = body.builder
    if done is not after:
        builder.enter(done)
        body.visit_all(node.orelse)
        if builder.current is not None:
            builder.jump(after)
    builder.enter(after)


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
    """Lower a for loop: over a range by counting, over a tuple or the components of a vector by unrolling.

    A range of constants is unrolled too where it is short or the body needs its numbers at build.
    """
    call = node.iter
    callee = body.visit(call.func) if isinstance(call, ast.Call) else None
    if isinstance(call, ast.Call) and isinstance(callee, Static) and callee.value is range:
        _name(body, node)
        over = _range(body, call)
        numbers = _numbers(over)
        if numbers is None or not (unrolling.worthwhile(body, node, len(numbers)) or unrolling.needed(body, node)):
            _count(body, node, over)
        else:
            constants = [body.builder.constant(over.scalar, number) for number in islice(numbers, unrolling.LIMIT + 1)]
            _unroll(body, node, constants)
        return
    operand = body.visit(node.iter)
    items = parts(body, operand, node.iter)
    if items is None:
        raise body.error(
            mistakes.LOOP, f"a for loop runs over a range, a tuple or a vector, and '{text(call)}' is "
            f"{describe(operand)}", node.iter, "for i in range(len(a)): and then a[i]",
        )  # fmt: skip
    _unroll(body, node, items)


def _numbers(over: Range) -> range | None:
    """The numbers of a range that the build knows."""
    try:
        return range(number(over.start), number(over.stop), number(over.step))
    except UnknownError:
        return None


def _unroll(body: Body, node: ast.For, items: Sequence[Operand]) -> None:
    """Lower the body of a loop once for each item."""
    builder, before = body.builder, body.unrolled
    body.unrolled *= max(len(items), 1)
    if body.unrolled > unrolling.LIMIT:
        raise body.error(
            mistakes.TOO_LARGE, f"this loop would be written out more than {unrolling.LIMIT} times", node,
            "keep what must be known at build out of it, so that it may stay a loop",
        )  # fmt: skip
    after = builder.block("after")
    for item in items:
        if builder.current is None:
            break
        again = builder.block("next")
        assign_to(body, node.target, item, node.iter)
        _run(body, node, Loop(after, again))
        if again.predecessors:  # by continue; without it, the next iteration goes on in the same block
            if builder.current is not None:
                builder.jump(again)
            builder.enter(again)
    body.unrolled = before
    if builder.current is not None:
        body.visit_all(node.orelse)
    if after.predecessors:  # by break
        if builder.current is not None:
            builder.jump(after)
        builder.enter(after)


def _count(body: Body, node: ast.For, over: Range) -> None:
    """Count through a range.

    The count is a variable of its own, so that assigning the name inside changes nothing, and the name keeps its last
    value. The test is at the foot of the loop and compares what is left with the step, so the count never overflows.
    """
    builder, line = body.builder, node.lineno
    first = f"before the first iteration of the loop in line {line}"
    inside = builder.block("body", f"in the loop in line {line}")
    foot, after = builder.block("foot"), builder.block("after")
    done = builder.block("done") if node.orelse else after
    count = object()
    builder.write(count, over.start)
    if over.nonempty:
        builder.jump(inside, first)
    else:
        enters = _before(body, over, over.start, node)
        builder.branch(enters, inside, done, body.location(node), f"when the loop in line {line} makes no iteration")
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
        builder.branch(again, inside, done, body.location(node))
    builder.seal(inside)
    _finish(body, node, done, after)


def _name(body: Body, node: ast.For) -> str:
    if not isinstance(node.target, ast.Name):
        raise body.error(mistakes.LOOP, "a loop over a range has one name", node.target, "for i in range(n):")
    return node.target.id


def _range(body: Body, call: ast.Call) -> Range:
    """Lower the operands of a range, and check its step."""
    start, stop, stride, known = range_operands(body, call)
    scalar = start.type
    assert isinstance(scalar, Scalar)
    if known is None:
        nonzero = body.emit(Op.NE, bool_, (stride, body.builder.constant(scalar, 0)), call)
        body.check(nonzero, "assert", "the step of the range is not 0", call)
    return Range(start, stop, stride, scalar, known)


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
