"""Kernels with other annotations."""

from typing import Any

import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError, BuildTypeError


@sn.kernel
def scale(x: sn.array(dtype=Any), by: Any, n: int):
    x[n] = x[n] * by


def types(kernel):
    return [param.type for param in lower(kernel).entry.params]


def test_by_name_and_in_order():
    array = sn.array(dtype=sn.float64)
    named = sn.overload(scale, {"x": array, "by": sn.float64})
    assert types(named) == [array, sn.float64, sn.int32]
    assert sn.overload(scale, [array, sn.float64, int]) is not scale
    assert scale.overload({"by": sn.float64, "x": array}) is named
    assert named in scale.overloads.values()
    assert (named.name, named.function, named.options) == (scale.name, scale.function, scale.options)


def test_as_a_mark_above_a_def_without_body():
    @sn.kernel
    def generic(x: Any):
        y = x
        assert y == x

    whole = generic

    @sn.overload
    def generic(x: float): ...

    @sn.overload
    def generic(x: "sn.vec3"): ...

    assert generic is whole
    assert [types(one) for one in generic.overloads.values()] == [[sn.float32], [sn.vec3]]


@sn.kernel
def rebound(x: Any):
    y = x
    assert y == x


kept = rebound


def rebound(x: sn.vec2): ...


def test_a_def_that_took_the_name_of_a_kernel():
    assert sn.overload(rebound) is kept
    assert [types(one) for one in kept.overloads.values()] == [[sn.vec2]]


def returning(x: float) -> float: ...


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: sn.overload(scale, {"y": int}), "kernel 'scale' has no parameter 'y'"),
        (lambda: sn.overload(scale, [int]), "has 1 types for 3 parameters"),
        (lambda: sn.overload(returning), "there is no kernel 'returning' to overload"),
        (lambda: lower(scale), "parameter 'x' of kernel 'scale' is left open"),
        (lambda: lower(sn.overload(scale, {"x": sn.array(dtype=float)})), "parameter 'by' of kernel 'scale' is left"),
        (lambda: lower(sn.overload(scale, {"x": str})), "'str' is not a type of the kernel language"),
    ],
)
def test_refused(make, what):
    with pytest.raises(BuildError, match=what):
        make()


def test_a_kernel_returns_nothing():
    @sn.kernel
    def generic(x: Any):
        pass

    with pytest.raises(BuildTypeError, match="a kernel returns nothing"):

        @sn.overload
        def generic(x: float) -> float: ...
