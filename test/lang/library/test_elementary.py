"""Each function is the same in plain Python and in a kernel, and what numpy or Python's own arithmetic says."""

import math

import numpy as np
import pytest

import sim_node as sn

SPECIAL = [0.0, -0.0, 0.25, 0.5, -0.5, 0.49999997, 1.5, 2.5, -2.5, 8388607.5, 1e30, -1e30, np.inf, -np.inf, np.nan]


def _half_away(x):
    return x if not np.isfinite(x) else math.copysign(math.floor(abs(x) + 0.5) if abs(x) != 0.49999997 else 0.0, x)


WANTED = {
    "step": lambda x: float(x < 0),
    "nonzero": lambda x: float(x != 0),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "round": lambda x: _half_away(float(x)),
    "frac": lambda x: x - np.trunc(x),
    "degrees": lambda x: x * np.float32(180 / math.pi),
    "radians": lambda x: x * np.float32(math.pi / 180),
}


def both(function, *columns, dtype=np.float32):
    """Call a function on each row in plain Python and in a kernel; the results, which have the same bits."""

    @sn.kernel
    def one(a: sn.array[sn.dtypes.element(columns[0].dtype)], out: sn.array[sn.dtypes.element(dtype)]):
        i = sn.tid()
        out[i] = function(a[i])

    @sn.kernel
    def two(
        a: sn.array[sn.dtypes.element(columns[0].dtype)],
        b: sn.array[sn.dtypes.element(columns[-1].dtype)],
        out: sn.array[sn.dtypes.element(dtype)],
    ):
        i = sn.tid()
        out[i] = function(a[i], b[i])

    out = np.zeros(len(columns[0]), dtype)
    sn.launch(one if len(columns) == 1 else two, len(out), inputs=columns, outputs=[out])
    with np.errstate(all="ignore"):
        plain = np.array([function(*row) for row in zip(*columns, strict=True)], dtype)
    np.testing.assert_array_equal(plain, out)
    if dtype != np.bool_:
        known = ~np.isnan(out)
        np.testing.assert_array_equal(np.signbit(plain)[known], np.signbit(out)[known])
    return out


@pytest.mark.parametrize("name", WANTED)
def test_functions_of_one_number(name):
    x = np.array(SPECIAL, np.float32)
    dtype = np.bool_ if name.startswith("is") else np.float32
    with np.errstate(all="ignore"):
        wanted = np.array([WANTED[name](value) for value in x], dtype)
    np.testing.assert_array_equal(both(getattr(sn, name), x, dtype=dtype), wanted)


@pytest.mark.parametrize(("name", "wanted"), [("isnan", False), ("isinf", False), ("isfinite", True)])
def test_every_integer_is_finite(name, wanted):
    judge = getattr(sn, name)

    @sn.kernel
    def one(a: sn.array[sn.vec2i], out: sn.array[bool]):
        out[0], out[1], out[2] = judge(a[0]), judge(a[0][1]), judge(-3)

    out = np.zeros(3, np.bool_)
    sn.launch(one, 1, inputs=[np.array([[-(2**31), 2**31 - 1]], np.int32)], outputs=[out])
    assert [*out, judge(3)] == [wanted] * 4


def test_a_sign_is_copied_from_zeros_too():
    x, y = (np.array(column, np.float32) for column in zip(*[(a, b) for a in SPECIAL for b in SPECIAL], strict=True))
    known = ~np.isnan(x) & ~np.isnan(y)
    got = both(sn.copysign, x, y)
    np.testing.assert_array_equal(got[known], np.copysign(x, y)[known])
    np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(y)[known])


@pytest.mark.parametrize(("name", "wanted"), [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)])
def test_operators_have_names(name, wanted):
    a, b = np.array([1, -7, 2**31 - 1], np.int32), np.array([2, 3, 1], np.int32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(both(getattr(sn, name), a, b, dtype=np.int32), wanted(a, b))
    np.testing.assert_array_equal(both(sn.floordiv, a, b, dtype=np.int32), a // b)


def test_what_has_a_type_keeps_it():
    assert sn.step(np.int32(-4)).dtype == np.int32
    assert sn.where(True, np.float64(1), np.float64(2)) == 1
    assert sn.where(False, np.float64(1), np.float64(2)) == 2


def test_smoothstep_is_flat_outside_and_hermites_inside():
    x = np.linspace(-1, 3, 33, dtype=np.float32)
    got = both(rise, x)
    t = np.clip((x.astype(np.float64)) / 2.0, 0, 1)
    np.testing.assert_allclose(got, t * t * (3 - 2 * t), atol=1e-6)
    assert (got[x <= 0] == 0).all()
    assert (got[x >= 2] == 1).all()


@sn.func
def rise(x: float):
    return sn.smoothstep(0.0, 2.0, x)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8", "f4", "f8"])
def test_the_named_division_truncates(dtype):
    signed = dtype[0] != "u"
    values = [v for v in (7, -7, 6, -6, 1, -1, 2**31 - 1, 5) if signed or v > 0]
    a, b = (np.array(c, dtype) for c in zip(*[(x, y) for x in values for y in values if y not in (0, -1)], strict=True))
    element = sn.dtypes.element(np.dtype(dtype))

    @sn.kernel
    def k(a: sn.array[element], b: sn.array[element], q: sn.array[element], r: sn.array[element]):
        i = sn.tid()
        q[i] = sn.div(a[i], b[i])
        r[i] = sn.mod(a[i], b[i])

    q, r = np.zeros_like(a), np.zeros_like(a)
    sn.launch(k, len(a), inputs=[a, b], outputs=[q, r])
    np.testing.assert_array_equal(r, np.fmod(a, b))
    np.testing.assert_array_equal(q, a / b if dtype[0] == "f" else (a - np.fmod(a, b)) // b)


@pytest.mark.parametrize("vector", [sn.vec2i, sn.vec3, sn.vec4d], ids=repr)
def test_vectors_go_component_by_component(vector):
    n = vector.length
    a = (np.arange(4 * n).reshape(4, n) - 2 * n).astype(vector.numpy)
    b = np.where(np.arange(4 * n).reshape(4, n) % 2, 3, -2).astype(vector.numpy)

    @sn.kernel
    def k(a: sn.array[vector], b: sn.array[vector], rest: sn.array[vector], signs: sn.array[vector]):
        i = sn.tid()
        rest[i] = sn.mod(a[i], b[i])
        signs[i] = sn.sign(a[i])

    rest, signs = np.zeros_like(a), np.zeros_like(a)
    sn.launch(k, 4, inputs=[a, b], outputs=[rest, signs])
    np.testing.assert_array_equal(rest, np.fmod(a, b))
    np.testing.assert_array_equal(signs, np.where(a < 0, -1, 1))


COMPOSITES = [sn.vec3, sn.mat22, sn.quat, sn.transform, sn.types.vector(5, sn.float64)]


@pytest.mark.parametrize("kind", COMPOSITES, ids=repr)
@pytest.mark.parametrize(("special", "wanted"), [(1.0, "001"), (np.nan, "100"), (np.inf, "010"), (-np.inf, "010")])
def test_what_any_component_is(kind, special, wanted):
    @sn.kernel
    def judge(a: sn.array[kind], out: sn.array[sn.bool]):
        out[0] = sn.isnan(a[0])
        out[1] = sn.isinf(a[0])
        out[2] = sn.isfinite(a[0])

    numbers = np.ones(kind.length, kind.numpy)
    numbers[-1] = special
    out = np.zeros(3, bool)
    sn.launch(judge, 1, inputs=[sn.array(numbers, dtype=kind)], outputs=[out])
    assert "".join(str(int(one)) for one in out) == wanted
    value = kind(numbers.reshape(kind.shape).tolist()) if kind.shape != (7,) else kind(*numbers.tolist())
    assert [sn.isnan(value), sn.isinf(value), sn.isfinite(value)] == out.tolist()
