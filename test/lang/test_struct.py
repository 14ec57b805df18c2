"""Structs: their fields, their layout, and what is refused."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.dtypes import ArrayType
from sim_node.errors import BuildTypeError
from sim_node.lang.values.structure import memory_type


def test_fields_lie_as_in_c():
    @sn.struct
    class Inner:
        a: sn.uint8
        b: sn.float64

    @sn.struct
    class Outer:
        flag: bool
        inner: Inner
        v: sn.vec3
        x: sn.array(dtype=float)

    assert [memory_type(Outer).fields[name][1] for name in ("flag", "inner", "v", "x")] == [0, 8, 24, 40]
    assert Outer.size == memory_type(Outer).itemsize == 64
    assert dict(Outer.fields)["x"] == ArrayType(sn.float32, 1, "strided")
    assert memory_type(Inner) == np.dtype(
        {"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8], "itemsize": 16}
    )


def test_annotations_as_text():
    @sn.struct
    class S:
        a: "float"
        b: "sn.vec3"

    assert [kind for _, kind in S.fields] == [sn.float32, sn.vec3]


@pytest.mark.parametrize(
    ("fields", "what"),
    [({"a": str}, "'str' is not a type"), ({"a": "nothing"}, "NameError")],
)
def test_what_is_no_struct(fields, what):
    with pytest.raises(BuildTypeError, match=what):
        sn.struct(type("S", (), {"__annotations__": fields, "__module__": __name__}))
    with pytest.raises(BuildTypeError, match="marks a class"):
        sn.struct(3)
