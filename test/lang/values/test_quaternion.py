"""Quaternions on the host: constructors, and the product with the bits of the library's."""

import numpy as np

import sim_node as sn
from sim_node.lang.library import rotation


def test_constructors() -> None:
    assert sn.quat() == (0, 0, 0, 0)
    for made in (sn.quat(1, 2, 3, 4), sn.quat((1, 2, 3, 4)), sn.quat(sn.vec3(1, 2, 3), 4), sn.quat([1, 2, 3], 4.0)):
        assert made == (1, 2, 3, 4)
        assert type(made) is type(sn.quat())
    assert (sn.quat(1, 2, 3, 4).w, sn.quat(1, 2, 3, 4)[:3]) == (4, sn.vec3(1, 2, 3))


def test_the_product_is_the_library_s() -> None:
    random = np.random.default_rng(0)
    for kind in (sn.quatf, sn.quatd):
        for _ in range(50):
            a, b = kind(random.normal(size=4)), kind(random.normal(size=4))
            assert np.array_equal(a * b, rotation.quat_multiply(a, b))
    assert sn.quat(1, 2, 3, 4) * 2.0 == (2, 4, 6, 8)
    assert sn.quat(1, 2, 3, 4) + sn.quat(1) == (2, 3, 4, 5)
