"""Atomic changes of elements, against what numpy reduces to; the order of threads must not matter."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError, UnsupportedError

INTEGERS = ("int32", "uint32", "int64", "uint64")
REDUCE = {
    "add": functools.partial(functools.reduce, lambda a, b: a + b),
    "sub": functools.partial(functools.reduce, lambda a, b: a - b),
    "min": min,
    "max": max,
    "and": functools.partial(functools.reduce, lambda a, b: a & b),
    "or": functools.partial(functools.reduce, lambda a, b: a | b),
    "xor": functools.partial(functools.reduce, lambda a, b: a ^ b),
}


def kernel_of(written, name, dtype, **options):
    mark = f"@sn.kernel({', '.join(f'{key}={value}' for key, value in options.items())})"
    return written(
        f"{mark}\ndef k(x: sn.array(dtype=T), out: sn.array(dtype=T)):\n    sn.atomic_{name}(out, 0, x[sn.tid()])\n",
        T=dtype,
    )["k"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", REDUCE)
def test_integers(written, execute, name, dtype):
    kind = getattr(sn, dtype)
    limits = np.iinfo(kind.numpy)
    x = np.random.default_rng(3).integers(limits.min, limits.max, 20, kind.numpy, endpoint=True)
    out = x[:1].copy()
    with np.errstate(all="ignore"):
        want = REDUCE[name](list(x))
    assert execute(lower(kernel_of(written, name, kind)), 19, x[1:].copy(), out).code == 0
    assert out[0] == want


@pytest.mark.parametrize("dtype", [sn.float32, sn.float64], ids=repr)
@pytest.mark.parametrize("name", ["min", "max"])
def test_a_number_takes_the_place_of_any_nan_in_memory(written, execute, name, dtype):
    module = lower(kernel_of(written, name, dtype))
    for nan in (np.nan, -np.nan):
        for numbers in ([-3.0, 2.5], [2.5, np.nan], [np.nan, -0.0], [np.nan]):
            out = np.array([nan], dtype.numpy)
            assert execute(module, len(numbers), np.array(numbers, dtype.numpy), out).code == 0
            known = [number for number in numbers if number == number]
            np.testing.assert_array_equal(out, [getattr(np, name)(known) if known else np.nan])


@pytest.mark.parametrize("dtype", [sn.float32, sn.float64], ids=repr)
def test_extremes_of_floats_are_those_of_min_and_max_in_any_order(written, execute, dtype):
    low, high = (lower(kernel_of(written, name, dtype)) for name in ("min", "max"))

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, float("nan")])), min_size=1, max_size=9))
    def check(numbers):
        x = np.array(numbers, dtype.numpy)
        for module, start, host in ((low, np.inf, sn.min), (high, -np.inf, sn.max)):
            out = np.array([start], dtype.numpy)
            execute(module, len(x), x, out)
            assert out[0].tobytes() == dtype.numpy.type(host(dtype.numpy.type(start), *x)).tobytes()

    check()


def test_components_dimensions_and_what_was_there_before(written, execute):
    made = written(
        "@sn.kernel\ndef k(v: sn.array(dtype=sn.vec2i), g: sn.array(dtype=int, ndim=2), old: sn.array(dtype=int)):\n"
        "    i = sn.tid()\n"
        "    before = sn.atomic_add(v, 0, sn.vec2i(1, i))\n"
        "    old[i] = before[0]\n"
        "    sn.atomic_max(g, i % 2, 1, i)\n"
        "    sn.atomic_cas(g, 0, 0, 0, 7)\n"
        "    sn.atomic_exch(g, 1, 0, 5)\n"
    )["k"]
    v, g, old = np.zeros((1, 2), np.int32), np.zeros((2, 2), np.int32), np.zeros(6, np.int32)
    module = lower(made)
    assert execute(module, 6, v, g, old).code == 0
    assert v.tolist() == [[6, 15]]
    assert sorted(old) == list(range(6))
    assert g.tolist() == [[7, 4], [5, 5]]
    assert module.entry.written == {"v", "g", "old"}


def test_an_index_outside_stops_the_thread(written, execute):
    made = kernel_of(written, "add", sn.int32)
    assert execute(lower(made), 1, np.ones(1, np.int32), np.zeros(0, np.int32)).code == 1


@pytest.mark.parametrize("name", ["add", "sub", "exch"])
def test_sums_of_floats_only_where_bits_may_vary(written, execute, name):
    with pytest.raises(UnsupportedError, match="depend on the order of threads") as caught:
        lower(kernel_of(written, name, sn.float32))
    assert "deterministic=False" in caught.value.remedy
    out = np.zeros(1, np.float32)
    made = kernel_of(written, name, sn.float32, deterministic=False)
    assert execute(lower(made), 4, np.ones(4, np.float32), out).code == 0
    assert out[0] == {"add": 4.0, "sub": -4.0, "exch": 1.0}[name]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("sn.atomic_add(1, 0, 1)", "an element of an array"),
        ("sn.atomic_add(x, 0)", "takes 3 arguments, not 2"),
        ("sn.atomic_cas(x, 0, 1.0)", "takes 4 arguments, not 3"),
        ("sn.atomic_and(x, 0, 1.0)", "does not take f32"),
        ("sn.atomic_add(b, 0, True)", "does not take bool"),
        ("sn.atomic_add(s, 0, sn.vec3s())", r"vec3s(?s:.*)float16, bfloat16(?s:.*)vec3s \(with scalar type i16\)$"),
        ("sn.atomic_cas(h, 0, h[0], h[0])", r"does not take f16(?s:.*)u\]int64, bfloat16, float32, or float64 as"),
        ("sn.atomic_min(x, 0, sn.float64(1.0))", "is f32, not f64"),
    ],
)
def test_what_is_refused(written, call, what):
    parameters = "x: sn.array[float], b: sn.array[bool], s: sn.array[sn.vec3s], h: sn.array[sn.float16]"
    made = written(f"@sn.kernel\ndef k({parameters}):\n    {call}\n")["k"]
    with pytest.raises(BuildTypeError, match=what):
        lower(made)
