import itertools
import math

import numpy as np
import pytest

from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.fold import fold
from sim_node.dtypes import named

KERNEL = """
kernel @k(array<{t}> %y, {t} %x, bool %c, i32 %i) {{
b0:
  {body}
  %s1_p = extract ptr %y {{0}}
  %s1_o = offset ptr %s1_p, %i {{{size}}}
  store %s1_o, %r {{0}}
  return
}}
"""


def stored(kind, body):
    """What is stored after folding: 'x', a constant, or the op that stayed."""
    module = verify(fold(verify(parse(KERNEL.format(t=kind, body=body, size=named(kind).size)))))
    value = next(v for v in module.entry.blocks[0].body if v.op is Op.STORE).args[1]
    return "x" if value.op is Op.PARAM else value.attr if value.op is Op.CONST else value.op


EXACT = [
    ("i32", "%k = const i32 {0}\n  %r = add i32 %k, %x", "x"),
    ("i32", "%k = const i32 {0}\n  %r = sub i32 %x, %k", "x"),
    ("u64", "%k = const u64 {1}\n  %r = mul u64 %x, %k", "x"),
    ("u64", "%k = const u64 {0}\n  %r = mul u64 %k, %x", 0),
    ("i32", "%k = const i32 {0}\n  %r = shl i32 %x, %k", "x"),
    ("i32", "%k = const i32 {3}\n  %q = quot i32 %x, %k\n  %p = mul i32 %q, %k\n  %r = sub i32 %x, %p", Op.REM),
    ("i32", "%k = const i32 {3}\n  %q = quot i32 %x, %k\n  %p = mul i32 %q, %x\n  %r = sub i32 %x, %p", Op.SUB),
    ("i32", "%k = const i32 {1}\n  %r = quot i32 %x, %k", "x"),
    ("bool", "%a = const i32 {4}\n  %k = const i32 {0}\n  %o = or i32 %i, %a\n  %r = eq bool %o, %k", False),
    ("bool", "%a = const i32 {4}\n  %k = const i32 {0}\n  %o = or i32 %a, %i\n  %r = ne bool %o, %k", True),
    ("u8", "%r = sub u8 %x, %x", 0),
    ("i32", "%r = and i32 %x, %x", "x"),
    ("bool", "%k = const bool {true}\n  %r = and bool %x, %k", "x"),
    ("bool", "%k = const bool {true}\n  %r = or bool %x, %k", True),
    ("bool", "%k = const bool {false}\n  %r = ne bool %k, %x", "x"),
    ("bool", "%k = const bool {true}\n  %r = eq bool %x, %k", "x"),
    ("f32", "%k = const f32 {-0.0}\n  %r = add f32 %x, %k", "x"),
    ("f32", "%k = const f32 {0.0}\n  %r = sub f32 %x, %k", "x"),
    ("f64", "%k = const f64 {1.0}\n  %r = mul f64 %k, %x", "x"),
    ("f64", "%k = const f64 {1.0}\n  %r = div f64 %x, %k", "x"),
    ("f32", "%n = neg f32 %x\n  %r = neg f32 %n", "x"),
    ("f32", "%r = cast f32 %x", "x"),
    ("f32", "%r = min f32 %x, %x", "x"),
    ("f32", "%r = select f32 %c, %x, %x", "x"),
    ("f32", "%t = const bool {false}\n  %k = const f32 {2.0}\n  %r = select f32 %t, %k, %x", "x"),
    ("i32", "%a = const i32 {2147483647}\n  %b = const i32 {1}\n  %r = add i32 %a, %b", -2147483648),
    ("i32", "%a = const i32 {-7}\n  %b = const i32 {2}\n  %r = quot i32 %a, %b", -3),
    ("i32", "%a = const i32 {-7}\n  %b = const i32 {2}\n  %r = rem i32 %a, %b", -1),
    ("i32", "%a = const f32 {3000000000.0}\n  %r = cast i32 %a", 2147483647),
    ("f32", "%a = const f64 {0.1}\n  %r = cast f32 %a", 0.10000000149011612),
    ("f32", "%a = const f32 {16777216.0}\n  %b = const f32 {1.0}\n  %r = add f32 %a, %b", 16777216.0),
    ("f64", "%a = const f64 {1.0}\n  %b = const f64 {0.0}\n  %r = div f64 %a, %b", math.inf),
]

# What a careless rule would fold: -0.0 + 0.0 is 0.0, NaN and infinity are not finite, a quotient by zero is nothing.
INEXACT = [
    ("f32", "%k = const f32 {0.0}\n  %r = add f32 %x, %k", Op.ADD),
    ("bool", "%k = const bool {false}\n  %r = ne bool %k, %x", "x"),
    ("bool", "%k = const bool {true}\n  %r = eq bool %x, %k", "x"),
    ("f32", "%k = const f32 {-0.0}\n  %r = sub f32 %x, %k", Op.SUB),
    ("f32", "%k = const f32 {0.0}\n  %r = mul f32 %x, %k", Op.MUL),
    ("f32", "%r = sub f32 %x, %x", Op.SUB),
    ("f32", "%r = div f32 %x, %x", Op.DIV),
    ("bool", "%r = eq bool %x, %x", Op.EQ),
    ("i32", "%k = const i32 {0}\n  %r = sub i32 %k, %x", Op.SUB),
    ("i32", "%a = const i32 {1}\n  %b = const i32 {0}\n  %r = quot i32 %a, %b", Op.QUOT),
    ("i32", "%a = const i32 {-2147483648}\n  %b = const i32 {-1}\n  %r = rem i32 %a, %b", Op.REM),
]


@pytest.mark.parametrize(("kind", "body", "want"), EXACT + INEXACT, ids=[body for _, body, _ in EXACT + INEXACT])
def test_what_folds_and_what_does_not(kind, body, want):
    got = stored(kind, body)
    assert got == want
    if isinstance(want, float):
        assert math.copysign(1, got) == math.copysign(1, want)


def test_a_check_that_holds_goes_and_one_that_fails_stays():
    source = """
    kernel @k() {
    b0:
      %t = const bool {true}
      %f = const bool {false}
      check %t {0}
      check %f {1}
      return
    }
    """
    body = fold(parse(source)).entry.blocks[0].body
    assert [(v.op, v.attr) for v in body if v.op is Op.CHECK] == [(Op.CHECK, 1)]


def test_a_decided_branch_takes_its_consequences_along():
    source = """
    kernel @k(array<i32> %y, i32 %i) {
    b0:
      %one = const i32 {1}
      %two = const i32 {2}
      %yes = lt bool %one, %two
      branch %yes -> b1, b2
    b1:
      jump -> b3(%two)
    b2:
      jump -> b3(%i)
    b3(i32 %v):
      %w = mul i32 %v, %two
      %four = eq bool %w, %two
      branch %four -> b5, b4
    b4:
      %s2_p = extract ptr %y {0}
      %s2_o = offset ptr %s2_p, %i {4}
      store %s2_o, %w {0}
      return
    b5:
      %s3_p = extract ptr %y {0}
      %s3_o = offset ptr %s3_p, %i {4}
      store %s3_o, %i {0}
      return
    }
    """
    module = verify(fold(verify(parse(source))))
    assert len(module.entry.blocks) == 1
    assert stored_constant(module) == 4
    assert text(fold(module)) == text(module)


def stored_constant(module):
    return next(v for v in module.entry.blocks[-1].body if v.op is Op.STORE).args[1].attr


def test_an_index_known_to_be_inside_is_not_checked():
    source = """
    kernel @k(ptr %y) {
    b0:
      %n = const i32 {3}
      %i = const i32 {2}
      %o = const i32 {-1}
      %p = bounds i32 %i, %n {0}
      %q = bounds i32 %n, %n {1}
      %r = bounds i32 %o, %n {2}
      store %y, %p {0}
      store %y, %q {4}
      store %y, %r {8}
      return
    }
    """
    kept = text(fold(parse(source)))
    assert kept.count("bounds") == 2
    assert "{1}" in kept
    assert "{2}" in kept


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("operands", ["%x, %k", "%k, %x"])
@pytest.mark.parametrize(
    ("limit", "want"),
    [("1.5", Op.SELECT), ("-inf", Op.SELECT), ("0.0", None), ("-0.0", None), ("nan", None)],
)
def test_a_float_is_limited_by_one_comparison_where_that_gives_the_same(op, kind, operands, limit, want):
    source = f"%k = const {kind} {{{limit}}}\n  %r = {op} {kind} {operands}"
    assert stored(kind, source) == (want or Op[op.upper()])


def test_a_float_limited_by_a_constant_is_what_min_and_max_give(execute):
    values = np.array([0.0, -0.0, 1.5, -1.5, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3e38], np.float32)
    for op, limit in itertools.product(("min", "max"), (1.5, -1.5, math.inf, -math.inf)):
        results = []
        for given in (f"%k = const f32 {{{limit!r}}}", "%k = min f32 %x, %x"):
            source = KERNEL.format(t="f32", size=4, body=f"{given}\n  %v = load f32 %at {{0}}\n  %r = {op} f32 %v, %k")
            source = source.replace("b0:\n", "b0:\n  %p = extract ptr %y {0}\n  %at = offset ptr %p, %i {4}\n")
            out = []
            for i in range(len(values)):
                memory = values.copy()
                assert execute(fold(verify(parse(source))), 1, memory, np.float32(limit), False, np.int32(i)).code == 0
                out.append(memory[i])
            results.append(np.array(out).tobytes())
        assert results[0] == results[1]
