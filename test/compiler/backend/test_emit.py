"""Every op as machine code, over edge operands of every type, against the constants that the compiler computes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from operations import BITCASTS, CASTS, ROWS, source

from sim_node.compiler.ir.op import SIGNATURES, Op, Rule
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import SCALARS, Scalar, bool_, float16, float32, float64


def edges(kind: Scalar) -> np.ndarray:
    """Operands at which something changes, signalling and negative NaN among them."""
    if kind is bool_:
        return np.array([False, True])
    if kind.is_integer:
        limits = np.iinfo(kind.numpy)
        near = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, limits.max - 1, limits.max, limits.max // 2 + 1]
        below = [limits.min, limits.min + 1, -1, -2, -7] if limits.min else []
        return np.array(near + below, kind.numpy)
    limits = np.finfo(kind.numpy)
    whole = [0.0, 0.5, 1.0, 1.5, 2.5, 0.1, 3.7, 2.0**23 + 1, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e30, math.inf]
    whole += [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal), float(limits.tiny) / 2]
    integers = np.dtype(f"u{kind.size}")
    bits = int(np.array(np.inf, kind.numpy).view(integers)) + 1
    odd = np.array([bits, bits + 0x100], integers).view(kind.numpy)
    with np.errstate(over="ignore"):
        positive = np.concatenate([np.array([*whole, 2147483647.0, 4294967295.0, math.nan], kind.numpy), odd])
    return np.concatenate([positive, -positive])


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


def product(kinds: list[Scalar]) -> list[np.ndarray]:
    grid = np.meshgrid(*(edges(kind) for kind in kinds), indexing="ij")
    return [np.ascontiguousarray(axis.reshape(-1)) for axis in grid]


def check(execute, op: Op, kinds: list[Scalar], result: Scalar, operands: list[np.ndarray], want: np.ndarray) -> None:
    text = source(op, kinds, result)
    got = {level: np.zeros(len(want), result.numpy) for level in (0, 3)}
    for level, out in got.items():
        assert execute(text, len(want), *operands, out, opt_level=level).code == 0
    np.testing.assert_array_equal(bits(got[0]), bits(got[3]))
    wrong = np.flatnonzero(bits(got[3]) != bits(want))
    assert not len(wrong), [tuple(x[wrong[0]] for x in operands), got[3][wrong[0]], want[wrong[0]]]


@pytest.mark.parametrize(
    ("op", "kind", "result"),
    [
        (op, kind, bool_ if SIGNATURES[op].rule is Rule.BOOL else kind)
        for op, kind in ROWS
        if op not in (Op.FMA, Op.MULADD)
    ]
    + CASTS
    + BITCASTS,
    ids=lambda value: getattr(value, "name", None),
)
def test_compiled_code_computes_what_folding_does(execute, op, kind, result):
    kinds = [kind] * (SIGNATURES[op].arity or 0)
    operands = product(kinds)
    attrs = [
        evaluate(op, result, [(kind, x.item()) for kind, x in zip(kinds, row)]) for row in zip(*operands, strict=True)
    ]
    defined = np.array([attr is not None for attr in attrs])  # a division by zero is checked before
    assert defined.any()
    want = np.array([attr for attr in attrs if attr is not None], result.numpy)
    if result.is_float:
        want[np.isnan(want)] = np.nan
    check(execute, op, kinds, result, [x[defined].copy() for x in operands], want)


def rounded(exact: Fraction, kind: Scalar) -> float:
    """Round to nearest, ties to even, from the exact value; sign of zero aside."""
    size = abs(exact)
    digits, least = {float16: (11, -24), float32: (24, -149), float64: (53, -1074)}[kind]
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - digits, least - 1)
    while size / Fraction(2) ** exponent >= 2**digits:
        exponent += 1
    exponent = max(exponent, least)
    scaled = round(size / Fraction(2) ** exponent)  # a Fraction rounds half to even
    limit = float(np.finfo(kind.numpy).max)
    value = Fraction(scaled) * Fraction(2) ** exponent
    return math.copysign(math.inf if value > Fraction(limit) else float(value), exact)


@pytest.mark.parametrize("kind", [float16, float32, float64], ids=repr)
def test_fma_rounds_once(execute, kind):
    random = np.random.default_rng(7)
    near = random.standard_normal((3, 300)).astype(kind.numpy)
    near[2, :150] = -(near[0, :150] * near[1, :150])  # all but cancels: what is left is the product's rounding error
    tiny = near * np.finfo(kind.numpy).tiny
    operands = [np.concatenate([a, b]) for a, b in zip(near, [tiny[0], near[1], tiny[2]])]
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(*operands)]
    want = np.array([rounded(value, kind) for value in exact], kind.numpy)
    assert np.any(want != operands[0] * operands[1] + operands[2])
    check(execute, Op.FMA, [kind] * 3, kind, operands, want)


@pytest.mark.parametrize("kind", [float32, float64], ids=repr)
def test_muladd_rounds_once_or_twice(execute, kind):
    # of whole numbers no product is rounded, so that both are the same
    operands = list(np.random.default_rng(8).integers(-1000, 1000, (3, 300)).astype(kind.numpy))
    check(execute, Op.MULADD, [kind] * 3, kind, operands, operands[0] * operands[1] + operands[2])


@pytest.mark.parametrize("kind", SCALARS, ids=repr)
def test_select_and_memory(execute, kind):
    condition, yes, no = (np.ascontiguousarray(x) for x in product([bool_, kind, kind]))
    want = np.where(condition, yes, no)
    if kind.is_float:
        want[np.isnan(want)] = np.nan
    check(execute, Op.SELECT, [bool_, kind, kind], kind, [condition, yes, no], want)


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize(("op", "wanted"), [("min", [1, 1, -0.5, 9, 9, -0.5]), ("max", [1, 1, 1, 9, 9, 9])])
def test_a_number_wins_over_nan_where_llvm_knows_it_to_be_one(execute, op, wanted, opt_level):
    """The check keeps the loop scalar; LLVM 22's own minimumnum gives NaN there on x86 with AVX-512DQ."""
    source = f"""kernel @k(array<f64> %a, array<f32> %y) {{
b0:
  %i = tid i32 {{0}}
  %zero = const f64 {{0.0}}
  %one = const f32 {{1.0}}
  %nine = const f32 {{9.0}}
  %n = extract i32 %y {{1}}
  %j = bounds i32 %i, %n {{0}}
  %v_p = extract ptr %a {{0}}
  %v_o = offset ptr %v_p, %j {{8}}
  %v = load f64 %v_o {{0}}
  %w_p = extract ptr %y {{0}}
  %w_o = offset ptr %w_p, %j {{4}}
  %w = load f32 %w_o {{0}}
  %c = eq bool %v, %zero
  check %c {{1}}
  %three = const i32 {{3}}
  %f = lt bool %i, %three
  %s = select f32 %f, %one, %nine
  %r = {op} f32 %s, %w
  %s1_p = extract ptr %y {{0}}
  %s1_o = offset ptr %s1_p, %j {{4}}
  store %s1_o, %r {{0}}
  return
}}"""
    y = np.array([np.nan, -np.nan, -0.5] * 2, np.float32)
    assert execute(source, 6, np.zeros(6), y, opt_level=opt_level).code == 0
    assert y.tolist() == wanted


@pytest.mark.parametrize("optimised", [False, True])
def test_no_address_is_a_constant(execute, optimised):
    source = """kernel @k(array<i32> %y) {
b0:
  %i = tid i32 {0}
  %one = const i32 {1}
  %none = const ptr {0}
  %p = extract ptr %y {0}
  %c = eq bool %i, %one
  branch %c -> b1(%none), b1(%p)
b1(ptr %q):
  %s = cast bool %q
  %v = cast i32 %s
  %o = offset ptr %p, %i {4}
  store %o, %v {0}
  return
}"""
    y = np.full(3, 9, np.int32)
    assert execute(source, 3, y, optimised=optimised, opt_level=0).code == 0
    assert y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("index", ["i32", "u32", "i64", "u64"])
def test_an_index_of_any_integer_type(execute, index):
    text = f"""
    kernel @k(array<{index}> %at, array<f64> %x, array<f64> %y) {{
    b0:
      %i = tid i32 {{0}}
      %j_p = extract ptr %at {{0}}
      %j_o = offset ptr %j_p, %i {{{int(index[1:]) // 8}}}
      %j = load {index} %j_o {{0}}
      %n = extract i32 %x {{1}}
      %m = cast {index} %n
      %k = bounds {index} %j, %m {{0}}
      %v_p = extract ptr %x {{0}}
      %v_o = offset ptr %v_p, %k {{8}}
      %v = load f64 %v_o {{0}}
      %s2_p = extract ptr %y {{0}}
      %s2_o = offset ptr %s2_p, %i {{8}}
      store %s2_o, %v {{0}}
      return
    }}
    """
    at = np.array(
        [3, 0, 4, 1], index.replace("i32", "i4").replace("u32", "u4").replace("i64", "i8").replace("u64", "u8")
    )
    x, y = np.arange(5.0), np.zeros(4)
    assert execute(text, 4, at, x, y).code == 0
    np.testing.assert_array_equal(y, x[at])
    at[1] = 5
    stop = execute(text, 4, at, x, y)
    assert (stop.code, stop.thread, stop.index, stop.length) == (1, 1, 5, 5)
    if index.startswith("i"):
        at[1] = -1
        assert execute(text, 4, at, x, y).index == -1


def test_edges_of_a_branch_to_one_block_carry_their_own_arguments(execute):
    text = """
    kernel @k(array<bool> %c, array<i32> %y) {
    b0:
      %i = tid i32 {0}
      %x_p = extract ptr %c {0}
      %x_o = offset ptr %x_p, %i {1}
      %x = load bool %x_o {0}
      %m = neg i32 %i
      branch %x -> b1(%i, %m), b1(%m, %i)
    b1(i32 %a, i32 %b):
      %d = sub i32 %a, %b
      %s3_p = extract ptr %y {0}
      %s3_o = offset ptr %s3_p, %i {4}
      store %s3_o, %d {0}
      return
    }
    """
    condition, y = np.array([True, False, True, False]), np.zeros(4, np.int32)
    execute(text, 4, condition, y)
    np.testing.assert_array_equal(y, [0, -2, 4, -6])


@pytest.mark.parametrize("label", ["v6", "tid", "p0", "error", "b1"])
def test_no_label_collides_with_a_name_of_the_emitter(execute, label):
    text = f"""
    kernel @k(array<i32> %y, bool %c) {{
    b0:
      %i = tid i32 {{0}}
      branch %c -> {label}, last
    {label}:
      %m = neg i32 %i
      %s4_p = extract ptr %y {{0}}
      %s4_o = offset ptr %s4_p, %i {{4}}
      store %s4_o, %m {{0}}
      jump -> last
    last:
      return
    }}
    """
    y = np.zeros(4, np.int32)
    execute(text, 4, y, True, opt_level=0, optimised=False)
    np.testing.assert_array_equal(y, [0, -1, -2, -3])


def test_every_op_is_tried():
    tried = {op for op, _ in ROWS} | {Op.CAST, Op.BITCAST, Op.SELECT}
    structure = {op for op, row in SIGNATURES.items() if row.rule in (Rule.FREE, Rule.NONE)} | {Op.BOUNDS}
    assert tried | structure == set(Op)
    assert all(len(list(itertools.chain(edges(kind)))) > 1 for kind in SCALARS)


def test_a_double_or_integer_becomes_an_f16_by_one_rounding(execute):
    text = """
    kernel @k(array<f64> %x, array<i64> %n, array<f16> %y, array<f16> %z) {
    b0:
      %i = tid i32 {0}
      %a = extract ptr %x {0}
      %b = offset ptr %a, %i {8}
      %d = load f64 %b {0}
      %h = cast f16 %d
      %c = extract ptr %y {0}
      %e = offset ptr %c, %i {2}
      store %e, %h {0}
      %f = extract ptr %n {0}
      %g = offset ptr %f, %i {8}
      %l = load i64 %g {0}
      %m = cast f16 %l
      %o = extract ptr %z {0}
      %q = offset ptr %o, %i {2}
      store %q, %m {0}
      return
    }
    """
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    halves = halves[np.isfinite(halves)]
    middles = (halves[:-1] + halves[1:]) / 2
    odd = [np.inf, -np.inf, np.nan, 65520, np.nextafter(65520, 0), 5e-324, -5e-324]
    x = np.concatenate([halves, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf), odd])
    n = np.random.default_rng(1).integers(-70000, 70000, len(x))
    n[:4] = [2**63 - 1, -(2**63), 65519, 65520]
    y, z = np.zeros(len(x), np.float16), np.zeros(len(x), np.float16)
    assert execute(text, len(x), x, n, y, z).code == 0
    with np.errstate(all="ignore"):
        assert y.tobytes() == x.astype(np.float16).tobytes()
        assert z.tobytes() == n.astype(np.float16).tobytes()
