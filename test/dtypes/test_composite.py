"""Composite types: names, shapes, and leaves as numpy's own arrays lie."""

from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.dtypes import Matrix, Quaternion, Transform, Vector, element, float16, float32, float64, int8, uint16

NAMES = {
    "vec3f": Vector(float32, 3), "vec12b": Vector(int8, 12), "mat33d": Matrix(float64, 3, 3),
    "mat24us": Matrix(uint16, 2, 4), "mat10x3f": Matrix(float32, 10, 3), "quath": Quaternion(float16),
    "transformd": Transform(float64),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_and_leaves(name):
    kind = NAMES[name]
    assert kind.name == repr(kind) == name
    assert element(name) == kind
    memory = np.zeros(kind.shape, kind.numpy)
    assert (kind.size, kind.align, kind.length) == (memory.nbytes, memory.itemsize, memory.size)
    assert [leaf.offset for leaf in kind.leaves] == list(range(0, memory.nbytes, memory.itemsize))
    assert {leaf.scalar for leaf in kind.leaves} == {kind.scalar}


def test_what_is_left_open_is_named_as_it_is_written():
    given = sn.types.vector(length=Any, dtype=sn.Float), sn.types.matrix(shape=(2, Any), dtype=float)
    assert repr(given) == "(vector(length=Any, dtype=Float), matrix(shape=(2, Any), dtype=f32))"
    assert repr([Quaternion(Any), Transform(Any)]) == "[quaternion(dtype=Any), transformation(dtype=Any)]"
