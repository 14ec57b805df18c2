"""Funcs: lowered once for each tuple of types, with one result type, and no recursion."""

from typing import Any

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError, BuildNameError, BuildTypeError, UnsupportedError

FUNCS = """
@sn.func
def twice(x):
    return x + x

@sn.func
def none(a: array(int)):
    a[0] = 1

@sn.func
def outer(x):
    return inner(x) * 2.0

@sn.func
def inner(x):
    return x + missing

@sn.func
def even(n: int):
    return odd(n - 1)

@sn.func
def odd(n: int):
    return even(n - 1)

@sn.func
def sometimes(n: int):
    if n > 0:
        return 1

@sn.func
def looped(n: int):
    while True:
        if n > 0:
            return n
        n += 1

@sn.func
def mixed(n: int):
    if n > 0:
        return 1.5
    return n

@sn.func
def bare(n: int):
    if n > 0:
        return
    return n

@sn.func
def pair(n: int):
    return n, n

@sn.func
def liar(n: int) -> float:
    pass

@sn.func
def array_back(a: array(int)):
    return a
"""


def refused(written, statement, family):
    head = "@sn.kernel\ndef k(x: array(), d: array(sn.float64), a: array(int), n: int):\n    "
    names = written(FUNCS + head + statement + "\n")
    with pytest.raises(BuildError) as caught:
        lower(names["k"])
    assert type(caught.value) is family, caught.value
    return caught.value


def test_once_for_each_tuple_of_types(written):
    names = written(FUNCS + "@sn.kernel\ndef k(x: array(), d: array(sn.float64)):\n"
                    "    x[0] = twice(twice(x[0])) + twice(1.5)\n    d[0] = twice(d[0])\n")  # fmt: skip
    module = lower(names["k"])
    assert list(module.functions) == ["k", "twice", "twice.2"]
    x, d = np.ones(1, np.float32), np.ones(1)
    run(module, [x, d])
    assert (x[0], d[0]) == (7.0, 2.0)


def test_a_func_may_have_the_kernels_name(written):
    names = written(
        "@sn.func\ndef k(x):\n    return x * 2.0\nf = k\n@sn.kernel\ndef k(x: array()):\n    x[0] = f(x[0])\n"
    )
    assert list(lower(names["k"]).functions) == ["k", "k.2"]


def test_no_value_on_the_way_out_of_an_endless_loop(written):
    names = written(FUNCS + "@sn.kernel\ndef k(a: array(int)):\n    a[0] = looped(a[0])\n")
    a = np.array([-3], np.int32)
    run(lower(names["k"]), [a])
    assert a[0] == 1


@pytest.mark.parametrize(
    ("statement", "family", "what", "remedy"),
    [
        ("a[0] = none(a)", BuildTypeError, "'none' returns nothing", "as a statement"),
        ("a[0] = even(n)", UnsupportedError, "'even' calls itself: even → odd → even", "write a loop"),
        ("a[0] = sometimes(n)", BuildError, "ends without one when the condition in line 28 is false", "at the end"),
        ("a[0] = mixed(n)", BuildTypeError, "1.5 cannot be i32", "convert the other side"),
        ("a[0] = bare(n)", BuildError, "this return has no value", "return a value here too"),
        ("a[0] = pair(n)", BuildTypeError, "pair(n) is a tuple", "take one of its parts"),
        ("x[0] = liar(n)", BuildTypeError, "'liar' says it returns f32 and returns nothing", ""),
        ("a[0] = array_back(a)[0]", BuildTypeError, "a func cannot return an array of i32", "return a value"),
    ],
)
def test_refused(written, statement, family, what, remedy):
    error = refused(written, statement, family)
    assert what in error.what
    assert remedy in error.remedy


def test_errors_carry_the_chain_of_calls(written):
    error = refused(written, "x[0] = outer(x[0])", BuildNameError)
    text = str(error).splitlines()
    assert "undefined symbol: missing" in text[0]
    assert text[1] == "    return x + missing"
    assert text[3].startswith("  called from outer at ")
    assert text[4].startswith("  called from k at ")
    assert text[4].endswith(":63:12")


def test_places_in_the_module_have_no_caller(written):
    """A func is shared by its callers, so only the inliner knows who called."""
    names = written(FUNCS + "@sn.kernel\ndef k(a: array(int)):\n    none(a)\n")
    (site,) = lower(names["k"]).functions["none"].sites
    assert site.location.inside == "none"
    assert site.location.caller is None


def test_an_async_kernel(written):
    with pytest.raises(UnsupportedError, match="an async function cannot be compiled"):
        lower(written("@sn.kernel\nasync def k(n: int):\n    m = n\n")["k"])


def test_a_func_may_call_itself_for_other_types_but_not_for_ever_others(written):
    text = """
@sn.func
def count(x: Any) -> int:
    return 1

@sn.func
def count(x: vec2) -> int:
    return count(x[0]) + count(x[1])

@sn.func
def count(x: mat22) -> int:
    return count(x[0]) + count(x[1])

@sn.func
def largest(x: float) -> float:
    return x

@sn.func
def largest(x: Any) -> float:
    return sn.max(largest(x[0]), largest(x[1]))

@sn.func
def deeper(x: Any) -> float:
    return deeper((x, x))

@sn.kernel
def k(a: array(float)):
    m = mat22(a[0], a[1], a[2], a[3])
    a[0] = float(count(m)) + largest(m)

@sn.kernel
def endless(a: array(float)):
    a[0] = deeper(a[0])
"""
    names = written(text, Any=Any, vec2=sn.vec2, mat22=sn.mat22)
    a = np.array([1.0, 2.0, 5.0, 3.0], np.float32)
    run(lower(names["k"]), [a])
    assert a[0] == 9.0
    with pytest.raises(UnsupportedError, match="'deeper' calls itself: deeper → deeper"):
        lower(names["endless"])
