"""Cases and slopes, combined."""

from sim_node.compiler.analysis.linear import ANYTHING, MAX_CASES, UNKNOWN, Case, Place, Spot, chosen, computed
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import float32

X, Y = Spot(0, 0, 0), Spot(1, 0, 0)
A, B = Place(None, "a"), Place(None, "b")
PARAM = Value(Op.PARAM, float32)


def slopes(op, *operands):
    (case,) = computed(Value(op, float32, (PARAM,) * len(operands)), [(each,) for each in operands])
    return case.constant if case.constant is not None else case.slopes


def test_slopes():
    x, y, two = Case(slopes={X: 3.0}), Case(slopes={X: 1.0, Y: 1.0}), Case(constant=2.0)
    assert slopes(Op.ADD, x, y) == {X: 4.0, Y: 1.0}
    assert slopes(Op.SUB, x, y) == {X: 2.0, Y: -1.0}
    assert slopes(Op.NEG, x) == {X: -3.0}
    assert slopes(Op.MUL, two, x) == slopes(Op.MUL, x, two) == {X: 6.0}
    assert slopes(Op.DIV, x, two) == {X: 1.5}
    assert slopes(Op.DIV, two, x) == slopes(Op.MUL, x, x) == slopes(Op.SQRT, x) == {X: None}
    assert slopes(Op.FMA, x, two, y) == slopes(Op.MULADD, x, two, y) == {X: 7.0, Y: 1.0}
    assert slopes(Op.ADD, two, two) == 4.0
    assert slopes(Op.ADD, x, UNKNOWN[0]) == {X: 3.0, ANYTHING: None}


def test_cases_that_chose_differently_are_never_combined():
    x, nothing = (Case(slopes={X: 1.0}),), (Case(),)
    if_a = chosen([({A: 0}, x), ({A: 1}, nothing)])
    total = computed(Value(Op.ADD, float32, (PARAM, PARAM)), [if_a, if_a])
    assert [dict(case.slopes) for case in total] == [{X: 2.0}, {}]
    if_b = chosen([({B: 0}, x), ({B: 1}, nothing)])
    assert len(computed(Value(Op.ADD, float32, (PARAM, PARAM)), [if_a, if_b])) == 4
    assert len(chosen([({A: 0}, if_a), ({A: 1}, nothing)])) == 2


def test_too_many_cases_are_one_that_is_unknown():
    case = Case(slopes={X: 1.0})
    assert chosen([({A: way}, (case,)) for way in range(MAX_CASES + 1)]) == (Case(slopes={X: None}),)
