"""Structs and tuples lie as C lays them out, which ctypes knows."""

import ctypes

from hypothesis import given
from hypothesis import strategies as st

from sim_node.dtypes import SCALARS, Struct, Tuple, Vector, bool_, float32
from sim_node.lang.values.structure import memory_type

C = {
    "bool": ctypes.c_bool, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16, "u16": ctypes.c_uint16,
    "f16": ctypes.c_uint16, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "f32": ctypes.c_float,
    "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f64": ctypes.c_double,
}  # fmt: skip
TYPES = st.recursive(
    st.one_of(st.sampled_from(SCALARS), st.builds(Vector, st.sampled_from(SCALARS), st.integers(1, 5))),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda kinds: Struct("s", tuple((f"f{i}", kind) for i, kind in enumerate(kinds)))
    ),
    max_leaves=8,
)


def in_c(kind):
    if isinstance(kind, Struct):
        return type("S", (ctypes.Structure,), {"_fields_": [(name, in_c(field)) for name, field in kind.fields]})
    return C[kind.name] if kind in SCALARS else C[kind.scalar.name] * kind.length


@given(TYPES)
def test_as_in_c(kind):
    there = in_c(kind)
    assert (kind.size, kind.align) == (ctypes.sizeof(there), ctypes.alignment(there))
    if isinstance(kind, Struct):
        assert list(kind.offsets) == [getattr(there, name).offset for name, _ in kind.fields]
        assert memory_type(kind).itemsize == kind.size
        assert [leaf.offset for leaf in kind.leaves] == sorted({leaf.offset for leaf in kind.leaves})


def test_places():
    inner = Struct("inner", (("flag", bool_), ("v", Vector(float32, 3))))
    outer = Struct("outer", (("a", float32), ("b", inner), ("c", bool_)))
    assert outer.place("b") == (1, inner)
    assert outer.place("c") == (5, bool_)
    assert outer.place("d") is None
    pair = Tuple((float32, inner, bool_))
    assert [pair.place(i)[0] for i in range(3)] == [0, 1, 5]
    assert [leaf.scalar for leaf in pair.leaves] == [leaf.scalar for leaf in outer.leaves]
