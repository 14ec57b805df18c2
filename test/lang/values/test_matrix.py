"""Matrices on the host: constructors, parts and products."""

import numpy as np
import pytest

import sim_node as sn


def test_constructors() -> None:
    wanted = np.array([[1, 2], [3, 4]], np.float32)
    for made in (sn.mat22(1, 2, 3, 4), sn.mat22((1, 2), (3, 4)), sn.mat22([[1, 2], [3, 4]]), sn.mat22(wanted),
                 sn.mat22(sn.vec2(1, 2), sn.vec2(3, 4)), sn.mat22(sn.mat22(1, 2, 3, 4))):  # fmt: skip
        assert np.array_equal(made, wanted)
        assert np.asarray(made).dtype == np.float32
    assert sn.mat22(2) == [[2, 2], [2, 2]]
    assert sn.mat33() == np.zeros((3, 3))
    with pytest.raises(ValueError, match="takes 0, 1 or 4 numbers, not 3"):
        sn.mat22(1, 2, 3)
    with pytest.raises(ValueError, match="3 numbers where 2 are needed"):
        sn.mat22((1, 2, 3), (1, 2))


def test_parts() -> None:
    m = sn.mat33(*range(9))
    assert m[0] == (0, 1, 2)
    assert m[:, -1] == (2, 5, 8)
    assert m[1, 2] == 5
    assert m[1:, :2] == [[3, 4], [6, 7]]
    row = m[0]
    row[0] = 7
    assert m[0, 0] == 0
    m[0, 0], m[1], m[:, 2] = 5, (1, 1, 1), 0
    m[1:, :2] = [[8, 8], [9, 9]]
    assert m == [[5, 1, 0], [8, 8, 0], [9, 9, 0]]
    m.set_row(2, 4)
    m.set_col(0, sn.vec3(1, 2, 3))
    assert (m.get_row(2), m.get_col(0)) == (sn.vec3(3, 4, 4), sn.vec3(1, 2, 3))
    with pytest.raises(TypeError, match="one or two integers or slices"):
        m[1.0]


def test_products() -> None:
    m = sn.mat22(1, 2, 3, 4)
    v = sn.vec2(1, 2)
    assert m * v == m @ v == sn.vec2(5, 11)
    assert v * m == v @ m == sn.vec2(7, 10)
    assert m * m == m @ m == sn.mat22(7, 10, 15, 22)
    assert 2 * m == m * 2 == m + m
    assert m / 2 - m == -m / 2
    with pytest.raises(TypeError, match=r"'\*' is not defined for mat22f and vec3f"):
        m * sn.vec3()
    with pytest.raises(TypeError, match=r"'@' is not defined for mat22f and mat22d"):
        m @ sn.mat22d()


def test_it_prints_row_by_row() -> None:
    assert str(sn.mat22(1, 2, 3, 4)) == "[[1.0, 2.0],\n [3.0, 4.0]]"
    assert repr(sn.mat22()) == "mat22f([[0.0, 0.0],\n [0.0, 0.0]])"
