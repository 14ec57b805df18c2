"""Every operator on every scalar type, at the edges of both, against CPython and numpy."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import Stopped, run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.dtypes import SCALARS, Kind
from sim_node.errors import BuildTypeError, BuildValueError

NUMBERS = [scalar for scalar in SCALARS if scalar.kind is not Kind.BOOL]
INTEGERS = [scalar for scalar in NUMBERS if scalar.is_integer]
FLOATS = [scalar for scalar in NUMBERS if scalar.is_float]
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
COMPARE = ("==", "!=", "<", "<=", ">", ">=")
INTEGER_ONLY = ("&", "|", "^", "<<", ">>")


def edge_values(scalar):
    """Where the type's arithmetic is special."""
    if not scalar.is_float:
        low, high = int(np.iinfo(scalar.numpy).min), int(np.iinfo(scalar.numpy).max)
        return [low, low + 1, high, high - 1, 0, 1, 2, max(-1, low), max(-7, low)]
    limits = np.finfo(scalar.numpy)
    tiny = float(limits.smallest_subnormal)
    return [
        0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.0, float(limits.max), float(limits.tiny), tiny, -tiny, 3 * tiny,
        float(np.nextafter(limits.tiny, 0, dtype=scalar.numpy)), np.inf, -np.inf, np.nan,
    ]  # fmt: skip


def values(scalar):
    """Any value of the type, the edges often."""
    edges = st.sampled_from(edge_values(scalar))
    if scalar.is_float:
        quarters = st.integers(-40, 40).map(lambda n: n / 4)
        return (edges | quarters | st.floats(width=scalar.bits)).map(scalar.numpy.type)
    low, high = int(np.iinfo(scalar.numpy).min), int(np.iinfo(scalar.numpy).max)
    return (edges | st.integers(max(-9, low), 9) | st.integers(low, high)).map(scalar.numpy.type)


def compiled(written, scalar, result, expression, at="0"):
    text = (
        f"@sn.kernel\ndef k(a: array(dtype=t), b: array(dtype=t), out: array(dtype=r)):\n    out[{at}] = {expression}\n"
    )
    return lower(written(text, t=scalar, r=result)["k"])


def computed(module, scalar, result, a, b):
    out = np.zeros(1, result.numpy)
    run(module, [np.array([a], scalar.numpy), np.array([b], scalar.numpy), out])
    return out[0]


def same(got, wanted):
    """Equal bits, but for NaN, of which there is one."""
    if np.isnan(got) and np.isnan(wanted):
        return True
    return got == wanted and np.signbit(got) == np.signbit(wanted) and got.dtype == np.asarray(wanted).dtype


def expected(symbol, scalar, a, b):
    """What Python says, wrapped at the width."""
    with np.errstate(all="ignore"):
        if scalar.is_integer and symbol not in COMPARE:
            whole = BINARY[symbol](int(a), int(b)) & (2**scalar.bits - 1)
            return np.array([whole], f"u{scalar.size}").view(scalar.numpy)[0]
        if scalar.bits == 64 and symbol in ("//", "%") and b != 0:
            return np.float64(BINARY[symbol](float(a), float(b)))
        return BINARY[symbol](a, b)


def combinations():
    for symbol in BINARY:
        for scalar in FLOATS if symbol == "/" else INTEGERS if symbol in INTEGER_ONLY else NUMBERS:
            yield pytest.param(symbol, scalar, id=f"{symbol} {scalar}")


@pytest.mark.parametrize(("symbol", "scalar"), list(combinations()))
def test_binary(written, symbol, scalar):
    result = SCALARS[0] if symbol in COMPARE else scalar
    module = compiled(written, scalar, result, f"a[0] {symbol} b[0]")
    counts = st.integers(0, scalar.bits - 1).map(scalar.numpy.type)

    @settings(max_examples=50, deadline=None, database=None)
    @given(values(scalar), counts if symbol in ("<<", ">>") else values(scalar))
    def check(a, b):
        whole = scalar.is_integer and symbol in ("//", "%")
        if whole and b == 0:
            with pytest.raises(Stopped) as stopped:
                computed(module, scalar, result, a, b)
            assert stopped.value.site.kind == "division"
            assert stopped.value.site.subject == f"a[0] {symbol} b[0]"
        elif symbol == "//" and scalar.kind is Kind.INT and int(a) // int(b) > np.iinfo(scalar.numpy).max:
            with pytest.raises(Stopped) as stopped:
                computed(module, scalar, result, a, b)
            assert stopped.value.site.kind == "overflow"
        else:
            got, wanted = computed(module, scalar, result, a, b), expected(symbol, scalar, a, b)
            assert same(got, wanted), (got, wanted)

    check()


def _edges_and_others(symbol, scalar):
    """All pairs of edges, and pairs of any bits, that have a result."""
    random = np.random.default_rng(len(symbol) * 100 + scalar.code)
    drawn = random.integers(0, 256, 2000 * scalar.size, np.uint8).view(scalar.numpy)
    edges = np.array([scalar.numpy.type(edge) for edge in edge_values(scalar)])
    a = np.concatenate([np.repeat(edges, len(edges)), drawn[:1000]])
    b = np.concatenate([np.tile(edges, len(edges)), drawn[1000:]])
    if symbol in ("<<", ">>"):
        b &= scalar.numpy.type(scalar.bits - 1)
    keep = np.ones(len(a), bool)
    if scalar.is_integer and symbol in ("//", "%"):
        keep &= b != 0
        if scalar.kind is Kind.INT:
            keep &= (a != np.iinfo(scalar.numpy).min) | (b.astype(np.int64) != -1)
    return a[keep], b[keep]


@pytest.mark.parametrize(("symbol", "scalar"), list(combinations()))
def test_binary_as_machine_code(written, execute, symbol, scalar):
    result = SCALARS[0] if symbol in COMPARE else scalar
    module = compiled(written, scalar, result, f"a[sn.tid()] {symbol} b[sn.tid()]", at="sn.tid()")
    a, b = _edges_and_others(symbol, scalar)
    out = np.zeros(len(a), result.numpy)
    assert execute(module, len(a), a, b, out).code == 0
    with np.errstate(all="ignore"):
        wrong = [(x, y, got) for x, y, got in zip(a, b, out) if not same(got, expected(symbol, scalar, x, y))]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("scalar", INTEGERS, ids=repr)
@pytest.mark.parametrize("symbol", ["//", "%"])
def test_division_without_a_result_stops_machine_code(written, execute, symbol, scalar):
    module = compiled(written, scalar, scalar, f"a[sn.tid()] {symbol} b[sn.tid()]", at="sn.tid()")
    least = int(np.iinfo(scalar.numpy).min)
    a, b = np.array([7, least, 5], scalar.numpy), np.array([2, -1 if least else 1, 0], scalar.numpy)
    out = np.zeros(3, scalar.numpy)
    stop = execute(module, 3, a, b, out)
    overflow = symbol == "//" and least < 0
    assert (stop.code, stop.thread) == (1, 1 if overflow else 2)
    assert out[0] == eval(f"7 {symbol} 2")
    if not overflow:
        assert out[1] == eval(f"{least} {symbol} {int(b[1])}")


@pytest.mark.parametrize("scalar", NUMBERS, ids=repr)
def test_shift_counts_are_masked(written, scalar):
    if scalar.is_float:
        return
    module = compiled(written, scalar, scalar, "a[0] << b[0]")
    assert computed(module, scalar, scalar, 3, scalar.bits + 1) == 6


@pytest.mark.parametrize("scalar", NUMBERS, ids=repr)
@pytest.mark.parametrize("symbol", ["-", "+", "~"])
def test_unary(written, symbol, scalar):
    if symbol == "~" and scalar.is_float:
        return
    module = compiled(written, scalar, scalar, f"{symbol}a[0]")
    apply = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[symbol]

    @settings(max_examples=40, deadline=None, database=None)
    @given(values(scalar))
    def check(a):
        with np.errstate(all="ignore"):
            assert same(computed(module, scalar, scalar, a, a), apply(a))

    check()


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%"])
@pytest.mark.parametrize("a", ["7", "-7", "2.5", "-2.5", "-0.0"])
@pytest.mark.parametrize("b", ["2", "-3", "0.75"])
def test_literals_fold_as_in_python(written, a, b, symbol):
    text = f"@sn.kernel\ndef k(out: array(dtype=sn.float64)):\n    out[0] = ({a}) {symbol} ({b})\n"
    out = np.zeros(1)
    run(lower(written(text)["k"]), [out])
    assert same(out[0], np.float64(eval(f"({a}) {symbol} ({b})")))


@sn.kernel
def divided(out: sn.array[float], flags: sn.array[bool]):
    out[0] = 2.0 / 0.0
    out[1] = -2.0 / 0
    out[2] = 1 / -0.0
    out[3] = sn.float32(0.0 / 0.0)
    flags[0] = (out[0] < 1.0) < (out[0] > 1.0)
    flags[1] = (out[0] > 1.0) <= False


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_floats_by_zero_are_ieee_s_at_build_too_and_bools_are_ordered(device):
    out, flags = np.zeros(4, np.float32), np.ones(2, bool)
    sn.launch(divided, 1, [out, flags], device=device)
    np.testing.assert_array_equal(out, [np.inf, -np.inf, -np.inf, np.nan])
    assert flags.tolist() == [True, False]


def test_literals_keep_their_digits(written):
    text = "@sn.kernel\ndef k(x: array(dtype=sn.float64)):\n    x[0] = x[0] * (1 / 3) + 0.1\n"
    x = np.array([0.7])
    run(lower(written(text)["k"]), [x])
    assert x[0] == 0.7 * (1 / 3) + 0.1


def test_division_by_a_constant_needs_no_check(written):
    text = "@sn.kernel\ndef k(a: array(dtype=int)):\n    a[0] = a[0] // 3 + a[0] % -1\n"
    module = lower(written(text)["k"])
    assert {site.kind for site in module.entry.sites} == {"index"}
    a = np.array([-(2**31)], np.int32)
    run(module, [a])
    assert a[0] == -(2**31) // 3


@sn.kernel
def by_parts(out: sn.array[sn.vec3], whole: sn.array[sn.vec3i], empty: sn.array[bool]):
    v = sn.vec3(22.0, -13.0, -7.0)
    out[0] = v % sn.vec3(5.0, 5.0, -2.0)
    v[:2] //= sn.vec2(5.0, 5.0)
    out[1] = v
    i = sn.vec3i(7, -7, -8)
    whole[0] = i // sn.vec3i(2, 2, 3)
    whole[1] = i % sn.vec3i(2, 2, 3)
    m = sn.mat22(1.0)
    empty[0] = v[3:] == v[:0] and m[2:] == m[:, :0]
    empty[1] = v[3:] != v[:0]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_vectors_are_divided_part_by_part_and_what_has_no_parts_is_equal(device):
    out, whole, empty = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int32), np.zeros(2, bool)
    sn.launch(by_parts, 1, [out, whole, empty], device=device)
    assert out.tolist() == [[2, 2, -1], [4, -3, -7]]
    assert whole.tolist() == [[3, -4, -3], [1, 1, 1]]
    assert empty.tolist() == [True, False]


@pytest.mark.parametrize("expression", ["s + s", "s == s", "-s", "s < s", "s // s"])
def test_structs_have_no_operators(written, expression):
    made = written(
        "@sn.struct\nclass S:\n    x: float\n\n\n"
        f"@sn.kernel\ndef k(s: S, out: sn.array[S]):\n    t = {expression}\n    out[0] = t\n"
    )["k"]
    with pytest.raises(BuildTypeError, match="is not defined for S"):
        lower(made)


def test_what_a_vector_is_scaled_by_has_the_type_of_its_components(refusal):
    refusal("p[0] = ¦p[0] * d[0]", BuildTypeError, "'*' mixes vec3f and f64", "convert the scalar: sn.float32(d[0])")


def test_a_division_by_a_constant_zero(refusal):
    refusal("a[0] = ¦a[0] // 0", BuildValueError, "'//' by zero")
