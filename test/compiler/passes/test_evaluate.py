"""What an op means, case by case; ``backend/test_emit.py`` shows that compiled code agrees on every edge operand."""

import math

import pytest

from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import bool_, float32, float64, int32, int64, uint32, uint64

NAN, INF = math.nan, math.inf
CASES = [
    (Op.ADD, int32, [2**31 - 1, 1], -(2**31)),
    (Op.SUB, uint32, [0, 1], 2**32 - 1),
    (Op.MUL, int64, [2**62, 2], -(2**63)),
    (Op.NEG, int32, [-(2**31)], -(2**31)),
    (Op.NEG, uint32, [1], 2**32 - 1),
    (Op.NEG, float32, [0.0], -0.0),
    (Op.ABS, int64, [-(2**63)], -(2**63)),
    (Op.ABS, float64, [-0.0], 0.0),
    (Op.QUOT, int32, [-7, 2], -3),
    (Op.QUOT, int32, [7, -2], -3),
    (Op.QUOT, uint64, [2**64 - 1, 2], 2**63 - 1),
    (Op.QUOT, int32, [7, 0], None),
    (Op.QUOT, int32, [-(2**31), -1], None),
    (Op.REM, int32, [-7, 2], -1),
    (Op.REM, int32, [7, -2], 1),
    (Op.REM, int64, [-(2**63), -1], None),
    (Op.DIV, float32, [1.0, -0.0], -INF),
    (Op.DIV, float32, [0.0, 0.0], NAN),
    (Op.MIN, float32, [NAN, 1.0], 1.0),
    (Op.MIN, float32, [1.0, NAN], 1.0),
    (Op.MIN, float64, [NAN, NAN], NAN),
    (Op.MIN, float64, [0.0, -0.0], -0.0),
    (Op.MAX, float64, [-0.0, 0.0], 0.0),
    (Op.MAX, float64, [0.0, -0.0], 0.0),
    (Op.MAX, uint32, [2**32 - 1, 1], 2**32 - 1),
    (Op.MIN, int32, [-1, 1], -1),
    (Op.SQRT, float64, [2.0], 1.4142135623730951),
    (Op.SQRT, float32, [-1.0], NAN),
    (Op.SQRT, float32, [-0.0], -0.0),
    (Op.RINT, float32, [2.5], 2.0),
    (Op.RINT, float32, [-0.5], -0.0),
    (Op.FLOOR, float64, [-0.5], -1.0),
    (Op.CEIL, float64, [-0.5], -0.0),
    (Op.TRUNC, float64, [-1.5], -1.0),
    (Op.INVERT, bool_, [True], False),
    (Op.INVERT, uint32, [0], 2**32 - 1),
    (Op.SHL, int32, [1, 33], 2),
    (Op.SHL, uint64, [1, 64], 1),
    (Op.SHR, int32, [-8, 1], -4),
    (Op.SHR, uint32, [2**32 - 8, 1], 2**31 - 4),
    (Op.EQ, float32, [NAN, NAN], False),
    (Op.NE, float32, [NAN, NAN], True),
    (Op.EQ, float32, [0.0, -0.0], True),
    (Op.LE, float32, [NAN, 1.0], False),
    (Op.LT, uint32, [1, 2**32 - 1], True),
    (Op.FMA, float32, [1.0, 1.0, 1.0], None),  # left to LLVM, which folds it exactly
]
CASTS = [
    (int32, float32, NAN, 0),
    (int32, float64, 2147483647.5, 2**31 - 1),
    (int32, float64, -1.9, -1),
    (uint32, float32, -1.0, 0),
    (uint32, float32, INF, 2**32 - 1),
    (uint64, float64, 1.8446744073709552e19, 2**64 - 1),
    (int64, float32, -INF, -(2**63)),
    (float32, int64, 2**24 + 1, 16777216.0),
    (float32, uint64, 2**64 - 1, 18446744073709551616.0),
    (float32, float64, 1e300, INF),
    (uint32, int32, -1, 2**32 - 1),
    (int32, uint64, 2**63 + 5, 5),
    (int64, uint32, 2**32 - 1, 2**32 - 1),
    (bool_, float32, NAN, True),
    (bool_, float32, -0.0, False),
    (bool_, int64, 2**32, True),
    (float64, bool_, True, 1.0),
]


def same(got, want):
    if isinstance(want, float) and math.isnan(want):
        return math.isnan(got)
    return type(got) is type(want) and got == want and (want != 0 or math.copysign(1, got) == math.copysign(1, want))


@pytest.mark.parametrize(("op", "kind", "operands", "want"), CASES)
def test_an_op_on_constants(op, kind, operands, want):
    result = bool_ if isinstance(want, bool) else kind
    assert same(evaluate(op, result, [(kind, operand) for operand in operands]), want)


@pytest.mark.parametrize(("to", "source", "operand", "want"), CASTS)
def test_a_conversion_of_a_constant(to, source, operand, want):
    assert same(evaluate(Op.CAST, to, [(source, operand)]), want)


def test_the_bits_of_a_nan_are_canonical():
    assert evaluate(Op.BITCAST, uint32, [(float32, -NAN)]) == 0x7FC00000
    assert evaluate(Op.BITCAST, int64, [(float64, -NAN)]) == 0x7FF8000000000000
    assert evaluate(Op.BITCAST, uint32, [(float32, -0.0)]) == 0x80000000
    assert evaluate(Op.BITCAST, float32, [(uint32, 1)]) == 2.0**-149
