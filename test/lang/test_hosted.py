"""Types of values of the host."""

import enum

import numpy as np

import sim_node as sn
from sim_node.lang.hosted import type_of


class Mode(enum.IntEnum):
    A = 3


def test_types_of_arguments():
    arrays = np.zeros(2, np.int32), sn.zeros(2, sn.vec3)
    assert [type_of(one) for one in (True, 1, 1.0, Mode.A, np.float64(1), *arrays)] == [
        sn.dtypes.bool_, sn.int32, sn.float32, sn.int32, sn.float64, sn.array(dtype=int), sn.array(dtype=sn.vec3),
    ]  # fmt: skip
    assert type_of("text") is None
    assert type_of(np.zeros(2, "c16")) is None
