"""Transforms on the host: constructors, their parts, and the product with the bits of the library's."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import rotation


def test_constructors() -> None:
    identity = (0, 0, 0, 0, 0, 0, 1)
    assert sn.transform() == identity
    assert sn.transform(p=(1, 2, 3)) == sn.transform(sn.vec3(1, 2, 3)) == (1, 2, 3, 0, 0, 0, 1)
    assert sn.transform((1, 2, 3), sn.quat(4, 5, 6, 7)) == sn.transform(1, 2, 3, 4, 5, 6, 7) == range(1, 8)
    assert sn.transform(q=(4, 5, 6, 7), p=(1, 2, 3)) == sn.transform(range(1, 8))
    assert sn.transform(2.0) == (2,) * 7
    for make, told in (
        (lambda: sn.transform(r=1), "^got an unexpected keyword argument 'r'$"),
        (lambda: sn.transform((1, 2, 3), (0, 0, 0, 1), q=1), "^multiple values for argument 'q'$"),
        (lambda: sn.transform(1, 2, 3, p=(1, 2, 3)), "^multiple values for argument 'p'$"),
        (
            lambda: sn.transform(1, 2),
            "Invalid argument 'p' in transformation constructor: expected a sequence, got int",
        ),
        (lambda: sn.transform(object()), "expected a scalar value, got object"),
    ):
        with pytest.raises(TypeError, match=told):
            make()


def test_parts() -> None:
    t = sn.transform()
    t.p = (1, 2, 3)
    t.q = sn.quat(0, 0, 1, 0)
    assert (t.p, t.q) == (sn.vec3(1, 2, 3), sn.quat(0, 0, 1, 0))
    t.p.x = 9  # a copy
    assert t.p.x == 1
    with pytest.raises(AttributeError, match="has no 'x'; its parts are p and q"):
        t.x  # noqa: B018


def test_the_product_is_the_library_s() -> None:
    random = np.random.default_rng(0)
    for kind in (sn.transformf, sn.transformd):
        for _ in range(50):
            a, b = kind(random.normal(size=7)), kind(random.normal(size=7))
            assert np.array_equal(a * b, rotation.transform_multiply(a, b))
