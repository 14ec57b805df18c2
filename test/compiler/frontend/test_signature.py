"""Annotations of parameters and results."""

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node import dtypes
from sim_node.compiler.frontend import lower
from sim_node.dtypes import ArrayType
from sim_node.errors import BuildTypeError, UnsupportedError


def types(written, parameters, first=""):
    module = lower(written(f"{first}@sn.kernel\ndef k({parameters}):\n    pass\n")["k"])
    return [param.type for param in module.entry.params], module.entry.names


@pytest.mark.parametrize("first", ["", "from __future__ import annotations\n"])
def test_types(written, first):
    kinds, names = types(
        written,
        "a: float, b: int, c: bool, d: sn.vec3d, e: array(sn.vec3), f: 'sn.uint64', g: np.float64, h: 'array(int)'",
        first,
    )  # fmt: skip
    assert names == tuple("abcdefgh")
    assert kinds == [
        dtypes.float32, dtypes.int32, dtypes.bool_, dtypes.vec3d, ArrayType(dtypes.vec3), dtypes.uint64, dtypes.float64,
        ArrayType(dtypes.int32),
    ]  # fmt: skip


def test_text_of_an_enclosing_function():
    real = sn.float64

    @sn.kernel
    def k(x: "real"):
        y = real(x)
        assert y > 0.0

    assert lower(k).entry.params[0].type == dtypes.float64


@pytest.mark.parametrize(
    ("head", "family", "what", "remedy"),
    [
        ("(x)", BuildTypeError, "parameter 'x' of kernel 'k' has no type", "x: float, x: sn.vec3 or x: sn.array(dtype"),
        ("(x: 'Any')", BuildTypeError, "parameter 'x' of kernel 'k' is left open", 'sn.overload(k, {"x": …})'),
        ("(x: None)", BuildTypeError, "has no type", "x: float"),
        ("(x: str)", BuildTypeError, "parameter 'x': 'str' is not a type of the kernel language", "x: float"),
        ("(x: 3)", BuildTypeError, "parameter 'x': '3' is not a type", "x: float"),
        ("(x: list[float])", BuildTypeError, "is not a type", "x: float"),
        (
            "(x: 'nope')",
            BuildTypeError,
            "the annotation of 'x', 'nope', cannot be evaluated: Name",
            "of the module",
        ),
        ("(*x: float)", UnsupportedError, "'*x' takes any number", "name each parameter"),
        ("(**x: float)", UnsupportedError, "takes any number", "name each parameter"),
        ("(x: float = 1.0)", UnsupportedError, "parameters of a kernel have no defaults", "at each launch"),
        ("(x: float) -> float", BuildTypeError, "a kernel returns nothing", "into arrays"),
    ],
)
def test_refused(written, head, family, what, remedy):
    from typing import Any

    made = written(f"@sn.kernel\ndef k{head}:\n    pass\n", ArrayType=ArrayType, Any=Any)["k"]
    with pytest.raises(family) as caught:
        lower(made)
    assert type(caught.value) is family
    assert what in caught.value.what
    assert remedy in caught.value.remedy
    assert caught.value.location.line == 2


def test_what_a_func_says_it_returns(written):
    names = written(
        "@sn.func\ndef f(x: float) -> sn.float64:\n    if x > 0.0:\n        return 0.1\n    return sn.float64(x)\n"
        "@sn.kernel\ndef k(x: array(sn.float64)):\n    x[0] = f(1.0)\n"
    )
    x = np.zeros(1)
    run(lower(names["k"]), [x])
    assert x[0] == 0.1
