"""Intervals hold whatever a value may be, wrap-around included."""

from itertools import product

import pytest

from sim_node.compiler.analysis.interval import COORDINATE, EXTENT, intervals, whole
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import bool_, float32, int8, int32, uint8


def found(source):
    function = parse(source).entry
    order = cfg.reverse_postorder(function)
    known = intervals(order)
    return [known.get(value) for block in order for value in block.body]


def test_coordinates_extents_and_what_is_made_of_them():
    source = """
    kernel @k(array<f32,2> %x, i32 %n, f32 %f) {
    b0:
      %i = tid i32 {0}
      %w = extract i32 %x {2}
      %p = extract ptr %x {0}
      %one = const i32 {1}
      %next = add i32 %i, %one
      %beyond = add i32 %w, %one
      %seven = const i32 {7}
      %r = rem i32 %i, %seven
      %s = rem i32 %n, %seven
      %m = and i32 %n, %seven
      %h = shr i32 %i, %one
      %q = quot i32 %s, %seven
      %c = lt bool %i, %one
      %never = lt bool %w, %m
      %b = cast i32 %c
      %least = min i32 %n, %one
      %g = cast i32 %f
      %neg = neg i32 %i
      %below = lt bool %neg, %one
      return
    }
    """
    every = (-(2**31), 2**31 - 1)
    assert found(source) == [
        COORDINATE, EXTENT, None, (1, 1), (1, 2**31 - 1), every, (7, 7), (0, 6), (-6, 6), (0, 7), (0, 2**30 - 1),
        (0, 0), (0, 1), (0, 1), (0, 1), (-(2**31), 1), every, (-(2**31) + 2, 0), (1, 1),
    ]  # fmt: skip


def test_where_ways_meet_it_may_be_either_and_in_a_loop_anything():
    source = """
    kernel @k(i32 %n, bool %c) {
    b0:
      %two = const i32 {2}
      %five = const i32 {5}
      branch %c -> b1, b2(%five)
    b1:
      jump -> b2(%two)
    b2(i32 %either):
      %e = add i32 %either, %two
      jump -> b3(%two)
    b3(i32 %count):
      %d = add i32 %count, %two
      %more = lt bool %d, %n
      branch %more -> b3(%d), b4
    b4:
      return
    }
    """
    assert found(source)[2:] == [(4, 7), (-(2**31), 2**31 - 1), (0, 1)]


EDGES = {int8: (-128, -127, -7, -1, 0, 1, 3, 8, 126, 127), uint8: (0, 1, 3, 7, 8, 254, 255)}
COMPARISONS = (Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE)
OPS = (Op.ADD, Op.SUB, Op.MUL, Op.QUOT, Op.REM, Op.MIN, Op.MAX, Op.AND, Op.SHR, *COMPARISONS)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("kind", EDGES)
def test_every_result_is_inside(op, kind):
    """Operands are parameters held between constants; results are those that folding computes."""
    edges, result = EDGES[kind], bool_ if op in COMPARISONS else kind
    firsts = [(edges[0], edges[-1]), (edges[2], edges[-3]), (edges[3], edges[5]), (edges[-2], edges[-1])]
    seconds = [
        (edges[0], edges[-1]),
        (edges[1], edges[2]),
        (edges[3], edges[5]),
        (edges[0], edges[0]),
        (edges[-3], edges[-3]),
    ]
    for (low, high), (least, most) in product(firsts, seconds):
        lines = [f"%c{i} = const {kind.name} {{{end}}}" for i, end in enumerate((low, high, least, most))]
        lines += [f"%a = max {kind.name} %x, %c0", f"%b = min {kind.name} %a, %c1"]
        lines += [f"%c = max {kind.name} %y, %c2", f"%d = min {kind.name} %c, %c3"]
        lines += [f"%r = {op.name.lower()} {result.name} %b, %d", "return"]
        bottom, top = found("\n".join([f"kernel @k({kind.name} %x, {kind.name} %y) {{", "b0:", *lines, "}"]))[-1]
        for a, b in product([e for e in edges if low <= e <= high], [e for e in edges if least <= e <= most]):
            value = evaluate(op, result, [(kind, a), (kind, b)])
            assert value is None or bottom <= int(value) <= top, (a, b)


def test_all_of_a_type():
    assert whole(uint8) == (0, 255)
    assert whole(bool_) == (0, 1)
    assert whole(int32) == (-(2**31), 2**31 - 1)
    assert whole(float32) is None
    assert whole(None) is None
