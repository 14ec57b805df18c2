import contextlib
import gc
import struct
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import _native, dtypes
from sim_node.dtypes import ArrayType, Matrix, Struct
from sim_node.runtime.creation import array, zeros
from sim_node.runtime.element import STRUCT, native, row

SCALARS = [native(scalar) for scalar in dtypes.SCALARS]


def field(name, element):
    return name, 0, 0, element, False


MATRIX = native(Matrix(dtypes.float32, 2, 3))
LEAVES = st.sampled_from([*dtypes.SCALARS, dtypes.vec3, dtypes.vec2d, Matrix(dtypes.int32, 3, 2)])


def named(parts):
    return Struct("S", tuple((f"f{i}", part) for i, part in enumerate(parts)))


STRUCTS = st.recursive(
    st.lists(LEAVES, min_size=1, max_size=5).map(named),
    lambda inner: st.lists(LEAVES | inner, min_size=1, max_size=3).map(named),
    max_leaves=4,
).map(native)


def test_equal_types_are_one_object():
    assert native(dtypes.vec3) is native(dtypes.Vector(dtypes.float32, 3))
    assert native(dtypes.vec3) is not native(dtypes.vec3d)
    assert (native(dtypes.vec3).size, native(dtypes.vec3).align, native(dtypes.vec3).axes) == (12, 4, (3,))
    assert native(dtypes.vec3).dtype is dtypes.vec3
    with pytest.raises(TypeError, match="no element type"):
        native("vec3")


def test_a_row_says_what_a_parameter_is():
    assert row("x", ArrayType(dtypes.float32, 2), True) == ("x", 2, 0, native(dtypes.float32), True)
    assert row("k", dtypes.vec3) == ("k", 0, 0, native(dtypes.vec3), False)


@given(STRUCTS, st.data())
def test_structs_are_numpy_s_aligned_structs(element, data):
    """Memory and values both ways: bytes from numpy, and from nested tuples by C."""
    count = data.draw(st.integers(0, 3))
    memory = data.draw(st.binary(min_size=element.size * count, max_size=element.size * count))
    made = _native.Array(bytearray(memory), element, (count,))
    seen = np.asarray(made)
    assert seen.dtype == element.numpy
    assert seen.shape == (count,)
    assert seen.tobytes() == np.frombuffer(memory, element.numpy).tobytes()
    value = np.zeros((), element.numpy)
    fill(value, data)
    packed, kept = element.pack(nested(value))
    assert kept is None
    assert np.frombuffer(packed, element.numpy)[0] == value
    assert element.pack(value[()])[0] == value.tobytes()


def fill(value, data):
    """Small whole numbers everywhere, so that equality is that of bits."""
    for name in value.dtype.names:
        if value.dtype[name].names:
            fill(value[name], data)
        elif value.dtype[name].base.kind == "b":
            value[name] = data.draw(st.booleans())
        else:
            value[name] = data.draw(st.integers(0, 100))


def nested(value):
    if value.dtype.names:
        return tuple(nested(value[name]) for name in value.dtype.names)
    return value.tolist()


def test_a_struct_refers_to_arrays_and_keeps_them():
    inner = Struct("Inner", (("x", ArrayType(dtypes.float32, 1, "strided")), ("n", dtypes.int32)))
    outer = native(Struct("Outer", (("flag", dtypes.bool_), ("inner", inner))))
    part = array(np.arange(6, dtype="f4"))[::2]
    packed, kept = outer.pack((True, (part, 4)))
    seen = np.frombuffer(packed, outer.numpy)[0]
    assert seen["flag"]
    assert seen["inner"]["n"] == 4
    assert seen["inner"]["x"].tobytes() == part.descriptor(1)
    assert struct.unpack("Qi4xq", seen["inner"]["x"].tobytes()) == (part.ptr, 3, 8)
    assert part in kept[0]
    assert outer.pack((True, (None, 4)))[0][8:16] == bytes(8)
    for value, reason in (
        ((True, (zeros(1, int), 4)), "dtype"),
        ((True, (zeros((1, 1)), 4)), "shape"),
        ((True, (zeros(1)[[0]], 4)), "layout"),
        ((True, (part,)), "length"),
        ((1, (part, 4)), "kind"),
        (seen, "kind"),
        (None, "kind"),
    ):
        with pytest.raises(_native.Refusal) as caught:
            outer.pack(value)
        assert caught.value.args == (0, reason)


class Instance:
    """What a value of the host is for C: a type, its memory, and the fields."""

    def __init__(self, kind, memory, **fields):
        self._type, self._memory = kind, memory
        self.__dict__.update(fields)


def test_values_of_the_host_are_told_apart_by_their_type():
    element = native(dtypes.vec4)
    memory = np.arange(4, dtype="f4")
    assert element.pack(Instance(dtypes.vec4, memory))[0] == memory.tobytes()
    with pytest.raises(_native.Refusal) as caught:
        element.pack(Instance(dtypes.vec4d, memory))
    assert caught.value.args == (0, "dtype")
    with pytest.raises(_native.Refusal) as caught:
        element.pack(Instance(dtypes.vec4, memory[:3].copy()))
    assert caught.value.args == (0, "length")
    holder = native(Struct("Holder", (("x", ArrayType(dtypes.float32, 1, "strided")),)))
    part = zeros(3)
    packed, kept = holder.pack(Instance(holder.dtype, None, x=part))
    assert packed == part.descriptor(1)
    assert kept == [part]
    with pytest.raises(_native.Refusal):
        holder.pack(Instance(holder.dtype, None))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (((1, 2, 3), (4, 5, 6)), None),
        ([[1, 2, 3], (4, 5, 6)], None),
        ((1, 2, 3, 4, 5, 6), None),
        (((1, 2, 3, 4), (5, 6)), "length"),
        (np.arange(1, 7).reshape(2, 3), None),
        ((np.arange(1, 4), [4, 5.0, 6]), None),
        (((1, 2), (3, 4, 5, 6)), "length"),
        ((1, 2, 3), "length"),
        (((1, 2, 3), (4, 5, 6), (7, 8, 9)), "length"),
        ((((1,), 2, 3), (4, 5, 6)), "kind"),
        (1.0, "kind"),
        ("123456", "kind"),
        (np.float32(1), "kind"),
        ({1, 2, 3, 4, 5, 6}, "kind"),
    ],
    ids=str,
)
def test_a_matrix_takes_rows_or_all_of_its_numbers(value, reason):
    if reason is None:
        assert np.frombuffer(MATRIX.pack(value)[0], "f4").tolist() == [1, 2, 3, 4, 5, 6]
        return
    with pytest.raises(_native.Refusal) as caught:
        MATRIX.pack(value)
    assert caught.value.args == (0, reason)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"code": 12}, "no scalar has code 12"),
        ({"code": -1}, "no scalar has code -1"),
        ({"size": 8}, "1 components do not take 8 bytes"),
        ({"size": 0}, "no element has 0 bytes"),
        ({"align": 8}, "aligned to 8"),
        ({"axes": (0,)}, "1 to 65535 components"),
        ({"axes": (1, 1, 1)}, "at most 2 axes"),
        ({"code": STRUCT, "size": 4, "align": 3}, "aligned to 3"),
        ({"code": STRUCT, "fields": (field("x", SCALARS[6]),), "size": 8}, "the fields do not take 8 bytes"),
        ({"code": STRUCT, "fields": (field("x", SCALARS[5]),), "size": 8}, "the fields do not take 8 bytes"),
        ({"code": STRUCT, "fields": (("x", 1, 1, SCALARS[5], False),), "size": 24}, "the fields do not take 24 bytes"),
    ],
    ids=range(11),
)
def test_a_description_that_is_no_type_is_refused(changed, fault):
    whole = {"dtype": None, "code": 5, "size": 4, "align": 4, "axes": (), "fields": (), "numpy": None, "format": b""}
    _native.Element(**whole)
    with pytest.raises(ValueError, match=fault):
        _native.Element(**{**whole, **changed})


def test_an_indexed_array_in_a_struct_is_its_whole_descriptor():
    holder = native(Struct("Holder", (("x", ArrayType(dtypes.float32, 2, "indexed")),)))
    base = zeros((3, 4))
    chosen = base[[2, 1]]
    packed, kept = holder.pack((chosen,))
    assert kept == [chosen]
    *seen, rows, columns = struct.unpack("Q2i4q", packed)
    assert seen == [base.ptr, 2, 4, 16, 4]
    assert rows != 0
    assert columns == 0
    assert struct.unpack("Q2i4q", holder.pack((base,))[0]) == (base.ptr, 3, 4, 16, 4, 0, 0)


def test_packing_leaves_nothing_behind():
    """Also where it fails half way, with arrays kept already."""
    inner = Struct("Inner", (("x", ArrayType(dtypes.float32, 1, "strided")), ("n", dtypes.int32)))
    outer = native(Struct("Outer", (("inner", inner), ("m", Matrix(dtypes.float32, 2, 2)), ("last", dtypes.bool_))))
    part, rows = zeros(6)[::2], [[1, 2], [3.0, 4]]
    values = [
        ((part, 3), rows, True),
        ((part, 3), np.eye(2), False),
        ((part, 3), rows, "no"),
        ((part, 3), [[1, 2], 3], True),
        ((part, None), rows, True),
        Instance(outer.dtype, None, inner=Instance(inner, None, x=part, n=1), m=rows, last=True),
        Instance(outer.dtype, None, inner=Instance(inner, None, x=part), m=rows, last=True),
        Instance(inner, None),
    ]

    def pack(times):
        for _ in range(times):
            for value in values:
                with contextlib.suppress(_native.Refusal):
                    outer.pack(value)

    pack(10)
    gc.collect()
    tracemalloc.start()
    watched = [part, rows, outer, outer.dtype, inner, *values]
    counts, memory = [sys.getrefcount(one) for one in watched], tracemalloc.get_traced_memory()[0]
    pack(2000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - memory
    tracemalloc.stop()
    assert [sys.getrefcount(one) for one in watched] == counts
    assert grown < 10_000


def test_a_composite_of_one_axis_takes_its_parts_in_any_grouping():
    """A transform is a position and a rotation."""
    transform = native(dtypes.Vector(dtypes.float32, 7))
    wanted = struct.pack("7f", 1, 2, 3, 0, 0, 0, 1)
    for value in ((1, 2, 3, 0, 0, 0, 1), ((1, 2, 3), (0, 0, 0, 1)), [np.arange(1, 4), (0, 0, 0, 1.0)]):
        assert transform.pack(value)[0] == wanted
