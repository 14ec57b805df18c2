"""Types made of others, and what can be asked of types."""

import sys
from typing import Any, get_args

import numpy as np
import pytest

import sim_node as sn


def test_equal_types_are_one():
    assert sn.types.vector(length=3, dtype=sn.float32) is sn.types.vector(3, float)
    assert sn.types.vector(3, float) == sn.vec3
    assert sn.types.matrix(shape=(2, 3), dtype=sn.float64).name == "mat23d"
    assert sn.types.quaternion(dtype=sn.float16) == sn.quath
    assert sn.types.transformation() == sn.transform


def test_questions():
    assert sn.types.types_equal(float, sn.float32)
    assert not sn.types.types_equal(sn.vec3, sn.vec4)
    assert [sn.types.type_size(t) for t in (float, sn.vec3, sn.mat33, sn.transform)] == [1, 3, 9, 7]
    assert [sn.types.type_size_in_bytes(t) for t in (bool, sn.vec3h, sn.mat22d)] == [1, 6, 32]
    assert sn.types.type_repr(sn.vec3) == "vec3f"
    kinds = ("int", "float", "scalar", "vector", "matrix", "quaternion", "transformation", "struct")
    table = {
        sn.int8: "int scalar",
        sn.float64: "float scalar",
        sn.vec2: "vector",
        sn.mat22: "matrix",
        sn.quat: "quaternion",
    }
    for kind, wanted in table.items():
        assert [k for k in kinds if getattr(sn.types, f"type_is_{k}")(kind)] == wanted.split()
    assert not sn.types.type_is_vector("nothing")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: sn.types.vector(-1, float), ValueError),
        (lambda: sn.types.vector(3, sn.vec3), TypeError),
        (lambda: sn.types.matrix((2,), float), ValueError),
        (lambda: sn.types.type_size("nothing"), TypeError),
    ],
)
def test_what_is_no_type_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_types_have_names_and_instances():
    assert (sn.float32.__name__, sn.bool.__name__, sn.vec3.__name__) == ("float32", "bool", "vec3f")
    assert isinstance(np.uint8(1), sn.uint8)
    assert not isinstance(1, sn.uint8)
    assert isinstance(sn.vec3(), sn.vec3)
    assert not isinstance(sn.vec3(), sn.vec2)


def test_in_a_kernel_they_make_values():
    vector = sn.types.vector(5, float)

    @sn.kernel
    def k(out: sn.array[vector], rest: sn.array[float]):
        v = sn.types.vector(1.0, 2.0, 3.0, 4.0, 5.0)
        out[0] = v
        m = sn.types.matrix(shape=(2, 2), dtype=float)
        rest[0] = m[1, 1] + 1.0

    out, rest = sn.zeros(1, dtype=vector), sn.zeros(1)
    sn.launch(k, 1, inputs=[out, rest])
    assert out.numpy().tolist() == [[1, 2, 3, 4, 5]]
    assert list(rest.numpy()) == [1]


def test_an_array_is_true_where_it_has_elements():
    @sn.kernel
    def k(a: sn.array[int], found: sn.array[int]):
        i = sn.tid()
        if a and a[i] == 7:
            found[i] = 1

    found = np.zeros(2, np.int32)
    sn.launch(k, 2, inputs=[None, found])
    assert not found.any()
    sn.launch(k, 2, inputs=[np.array([7, 0], np.int32), found])
    assert found.tolist() == [1, 0]


def test_types_of_values_say_their_parts():
    @sn.kernel
    def k(a: sn.array[Any], out: sn.array[int]):
        m = type(a).dtype(a.dtype.dtype(2))
        v = sn.types.vector(length=2, dtype=float)
        out[0] = v.length * 100 + m.shape[0] * 10 + m.length
        out[1] = int(m[0, 0]) + type(v).length
        count = 0
        for _ in range(True):
            count += 1
        out[2] = count

    for device in ("cpu", "python"):
        out = np.zeros(3, np.int32)
        sn.launch(k, 1, inputs=[sn.zeros(1, sn.mat22d), out], device=device)
        assert out.tolist() == [224, 4, 1]


@sn.func
def ends(a: sn.array[float, Any]):
    return len(a)


@sn.kernel
def measure(a: sn.array[float, Any], out: sn.array[int]):
    out[0] = a.ndim * 10 + ends(a)


@pytest.mark.parametrize("shape", [(3,), (2, 4), (5, 1, 1)])
def test_dimensions_may_be_left_open(shape):
    for device in ("cpu", "python"):
        out = np.zeros(1, np.int32)
        sn.launch(measure, 1, inputs=[np.zeros(shape, np.float32), out], device=device)
        assert out[0] == len(shape) * 10 + shape[0]
    assert repr(sn.array[float, 1]) == "array<f32>"
    with pytest.raises(ValueError, match="ndim must be between 1 and 4"):
        sn.array[float, 5]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing takes only classes before")
def test_annotations_of_python_code_may_be_alternatives():
    either = sn.array[float] | None
    assert get_args(either) == (sn.array[float], type(None))
    assert get_args(int | sn.array2d[float]) == (int, sn.array2d[float])
