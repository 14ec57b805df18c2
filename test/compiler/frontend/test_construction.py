"""Values of composite types and structs made in kernels, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import sim_node as sn
from sim_node import dtypes
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError, BuildTypeError
from sim_node.lang.values.structure import memory_type

FORMS = {
    "sn.mat22()": (sn.mat22, np.zeros(4)),
    "sn.mat22(s)": (sn.mat22, np.full(4, 3)),
    "sn.mat22(1.0, 2.0, 3.0, s)": (sn.mat22, [1, 2, 3, 3]),
    "sn.mat22d(sn.mat22(1.0, 2.0, 3.0, s))": (sn.mat22d, [1, 2, 3, 3]),
    "sn.matrix_from_rows(sn.vec3(1.0, 2.0, s), sn.vec3(4.0))": (dtypes.Matrix(sn.float32, 2, 3), [1, 2, 3, 4, 4, 4]),
    "sn.matrix_from_cols(sn.vec2(1.0, 2.0), sn.vec2(s))": (sn.mat22, [1, 3, 2, 3]),
    "sn.matrix(s, shape=(2, 3), dtype=float)": (dtypes.Matrix(sn.float32, 2, 3), np.full(6, 3)),
    "sn.matrix(sn.mat22(s), dtype=sn.float16)": (sn.mat22h, np.full(4, 3)),
    "sn.identity(n=2, dtype=sn.float64)": (sn.mat22d, [1, 0, 0, 1]),
    "sn.identity(2, float)": (sn.mat22, [1, 0, 0, 1]),
    "sn.quat()": (sn.quat, np.zeros(4)),
    "sn.quat(1.0, 2.0, s, 4.0)": (sn.quat, [1, 2, 3, 4]),
    "sn.quat(x=1.0, y=2.0, z=s, w=4.0)": (sn.quat, [1, 2, 3, 4]),
    "sn.quat(sn.vec3(1.0, 2.0, s), 4.0)": (sn.quat, [1, 2, 3, 4]),
    "sn.transform()": (sn.transform, [0, 0, 0, 0, 0, 0, 1]),
    "sn.transform(sn.vec3(s), sn.quat(1.0, 2.0, 3.0, 4.0))": (sn.transform, [3, 3, 3, 1, 2, 3, 4]),
    "sn.transform(sn.vec3(s), q=sn.quat(1.0, 2.0, 3.0, 4.0))": (sn.transform, [3, 3, 3, 1, 2, 3, 4]),
    "sn.transform(sn.vec3(s))": (sn.transform, [3, 3, 3, 0, 0, 0, 1]),
    "sn.transform(p=sn.vec3(s))": (sn.transform, [3, 3, 3, 0, 0, 0, 1]),
    "sn.transform(q=sn.quat(1.0, 2.0, 3.0, 4.0))": (sn.transform, [0, 0, 0, 1, 2, 3, 4]),
    "sn.mat22(s, shape=(2, 2), dtype=float)": (sn.mat22, [3, 3, 3, 3]),
    "sn.vec2(s, length=2)": (sn.vec2, [3, 3]),
    "sn.spatial_vector(sn.vec3(s), sn.vec3(1.0, 2.0, 4.0))": (sn.spatial_vector, [3, 3, 3, 1, 2, 4]),
    "sn.vector(1.0, 2.0, s, 4.0, 5.0)": (dtypes.Vector(sn.float32, 5), [1, 2, 3, 4, 5]),
    "sn.vector(s, length=2)": (sn.vec2, [3, 3]),
    "sn.vector(length=3, dtype=sn.int8)": (dtypes.Vector(sn.int8, 3), [0, 0, 0]),
    "sn.vec3h(sn.vec3(1.0, 2.0, s))": (sn.vec3h, [1, 2, 3]),
    "type(sn.vec2d())(1.0, 2.0)": (sn.vec2d, [1, 2]),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(written, execute, form):
    kind, want = FORMS[form]
    made = written(f"@sn.kernel\ndef k(out: sn.array(dtype=kind), s: float):\n    out[0] = {form}\n", kind=kind)["k"]
    out = np.zeros((1, *kind.shape), kind.numpy)
    assert execute(lower(made), 1, out, 3.0).code == 0
    np.testing.assert_array_equal(out.reshape(-1), want)


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("sn.mat22(1.0, 2.0, 3.0)", "takes 0, 1 or 4 components, not 3"),
        ("sn.mat22(sn.vec2(), sn.vec2())", "takes 0, 1 or 4 components, not 2"),
        ("sn.quat(sn.vec3(), sn.vec2())", "is f32, not vec2f"),
        ("sn.vec2(1.0, length=3)", "vec2f takes 0, 1 or 2 components"),
        ("sn.transform(sn.vec3(), p=sn.vec3())", "takes 0, 1 or 7 components"),
        ("sn.vec3(length=2)", "takes 0, 1 or 3 components"),
        ("sn.matrix(s)", "does not know its shape"),
        ("sn.matrix(s, shape=3)", "its rows and columns"),
        ("sn.vector(s)", "takes its components, or a length"),
        ("sn.vector(s, length=n)", "a number that the build knows"),
        ("sn.vector(length=3)", "has no dtype"),
        ("sn.vector(s, length=5000)", "more than 4096 numbers"),
        ("sn.vector(s, length=3, dtype=sn.vec3)", "a dtype is a scalar type"),
        ("sn.vector(s, size=3)", "takes no 'size'"),
        ("sn.identity(n=2)", "takes n and dtype"),
        ("sn.matrix_from_rows(sn.vec3(), sn.vec2())", "mixes"),
        ("sn.matrix_from_cols(s, s)", "takes vectors of one type"),
    ],
)
def test_what_makes_none(written, form, what):
    made = written(f"@sn.kernel\ndef k(s: float, n: int):\n    a = {form}\n")["k"]
    with pytest.raises(BuildError) as caught:
        lower(made)
    assert what in caught.value.what
    assert isinstance(caught.value, BuildTypeError)
    assert caught.value.location is not None


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (
            "sn.mat22(1.0, 2.0, 3.0)",
            "incompatible number of values given (3) when constructing a matrix of shape (2, 2)",
        ),
        ("sn.transform(1.0, 2.0)", "(2) when constructing a transform; expected 0, 1, or 7"),
        ("sn.vector(1.0, 2.0, length=12345)", "(2) when constructing a vector of length 12345"),
        ("sn.vector(sn.vec2(), length=3)", "vector of length 3 given when copy constructing a vector of length 2"),
        (
            "sn.mat33(sn.mat22())",
            "incompatible matrix of shape (3, 3) given when copy constructing a matrix of shape (2, 2)",
        ),
        ("sn.vec2(n, n)", "all values used to initialize this vector are expected to be of the type `float32`"),
        ("sn.mat22h(s)", "the value used to fill this matrix is expected to be of the type `float16`"),
        ("sn.vector()", "the `length` argument must be specified when zero-initializing a vector"),
        ("sn.matrix(1.0, 2.0)", "the `shape` argument must be specified when initializing a matrix by value"),
        ("sn.vec2() == sn.vec3()", "Can't test equality for objects with different types"),
    ],
)
def test_the_last_words_say_why(written, form, why):
    made = written(f"@sn.kernel\ndef k(s: float, n: int):\n    a = {form}\n")["k"]
    with pytest.raises(BuildTypeError) as caught:
        lower(made)
    assert str(caught.value).endswith(why)


STRUCTS = """
@sn.struct
class Body:
    mass: float
    at: sn.vec3
    tag: sn.uint8

@sn.struct
class Pair:
    first: Body
    k: sn.float64
    second: Body

@sn.func
def moved(b: Body, by: sn.vec3):
    b.at += by
    return b
"""


def test_structs_in_arrays_and_out_of_funcs(written, execute):
    names = written(
        STRUCTS + "@sn.kernel\n"
        "def k(pairs: sn.array(dtype=Pair), out: sn.array(dtype=Body)):\n"
        "    i = sn.tid()\n"
        "    b = moved(Body(2.0, tag=sn.uint8(7)), sn.vec3(1.0, 2.0, 3.0))\n"
        "    p = pairs[i]\n"
        "    p.second = b\n"
        "    p.second.at.y = 9.0\n"
        "    p.first.mass += b.mass\n"
        "    pairs[i] = p\n"
        "    pairs[i].first.at[i % 3] = 5.0\n"
        "    out[i] = b\n"
    )
    pair, body = names["Pair"], names["Body"]
    pairs, out = np.zeros(3, memory_type(pair)), np.zeros(3, memory_type(body))
    pairs["first"]["mass"] = [1, 2, 3]
    assert execute(lower(names["k"]), 3, pairs, out).code == 0
    np.testing.assert_array_equal(pairs["first"]["mass"], [3, 4, 5])
    np.testing.assert_array_equal(pairs["first"]["at"], 5 * np.eye(3))
    np.testing.assert_array_equal(pairs["second"]["at"], [[1, 9, 3]] * 3)
    np.testing.assert_array_equal(out["at"], [[1, 2, 3]] * 3)
    assert out["tag"].tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("Body(1.0, sn.vec3(), sn.uint8(1), 2.0)", "has 3 fields, and 4 values"),
        ("Body(1.0, mass=2.0)", "'mass' is given twice"),
        ("Body(weight=2.0)", "'weight' is none of its fields"),
        ("Body(sn.float64(1.0))", "'mass' is f32, not f64"),
    ],
)
def test_fields_that_do_not_fit(written, form, what):
    made = written(STRUCTS + f"@sn.kernel\ndef k(s: float):\n    a = {form}\n")["k"]
    with pytest.raises(BuildTypeError, match=what):
        lower(made)


def test_a_vector_of_structs(written):
    text = "@sn.struct\nclass Body:\n    mass: float\n\n@sn.kernel\ndef k(b: Body):\n    v = sn.vector(b, b)\n"
    with pytest.raises(BuildTypeError, match=r"sn\.vector is made of numbers, not of Body"):
        lower(written(text)["k"])
