"""Products of composite types, against sums in numpy in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError

SCALARS = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32)


def in_order(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = a[:, :1] * b[:1]
    for k in range(1, a.shape[1]):
        total = total + a[:, k : k + 1] * b[k : k + 1]
    return total


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 3), (2, 3, 4), (4, 2, 1), (1, 3, 2)])
@pytest.mark.parametrize("symbol", "*@")
def test_matrices_and_vectors(written, execute, scalar, shape, symbol):
    rows, inner, cols = shape
    left = dtypes.Vector(scalar, inner) if rows == 1 else dtypes.Matrix(scalar, rows, inner)
    right = dtypes.Vector(scalar, inner) if cols == 1 else dtypes.Matrix(scalar, inner, cols)
    result = (
        dtypes.Vector(scalar, cols) if rows == 1
        else dtypes.Vector(scalar, rows) if cols == 1 else dtypes.Matrix(scalar, rows, cols)
    )  # fmt: skip
    made = written(
        "@sn.kernel\ndef k(a: sn.array(dtype=A), b: sn.array(dtype=B), out: sn.array(dtype=C)):\n"
        f"    i = sn.tid()\n    out[i] = a[i] {symbol} b[i]\n",
        A=left, B=right, C=result,
    )["k"]  # fmt: skip
    random = np.random.default_rng(5)
    a, b = ((random.normal(size=(4, *kind.shape)) * 4).astype(kind.numpy) for kind in (left, right))
    out = np.zeros((4, *result.shape), scalar.numpy)
    assert execute(lower(made), 4, a, b, out).code == 0
    for one, other, got in zip(a, b, out):
        want = in_order(one.reshape(rows, inner), other.reshape(inner, cols))
        np.testing.assert_array_equal(got.reshape(rows, cols), want)


@pytest.mark.parametrize(
    "form", ["mat22() * sn.mat33()", "mat33() * sn.vec2()", "mat22() @ 2.0", "mat22() * sn.mat22d()"]
)
def test_what_has_no_product(written, form):
    made = written(f"@sn.kernel\ndef k(s: float):\n    a = sn.{form}\n")["k"]
    with pytest.raises(BuildTypeError):
        lower(made)


def test_a_quaternion_turns_as_its_matrix_does(written, execute):
    made = written(
        "@sn.kernel\ndef k(q: sn.array(dtype=sn.quatd), t: sn.array(dtype=sn.transformd), "
        "two: sn.array(dtype=sn.quatd), out: sn.array(dtype=sn.transformd)):\n"
        "    i = sn.tid()\n    two[i] = q[i] * t[i].q\n"
        "    out[i] = sn.transformd(sn.vec3d(1.0, 2.0, 3.0), q[i]) * t[i]\n"
    )["k"]
    random = np.random.default_rng(2)
    q, t = random.normal(size=(5, 4)), random.normal(size=(5, 7))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    two, out = np.zeros_like(q), np.zeros_like(t)
    assert execute(lower(made), 5, q, t, two, out).code == 0
    for (x, y, z, w), given, product, moved in zip(q, t, two, out):
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        np.testing.assert_allclose(moved[:3], turn @ given[:3] + [1, 2, 3], atol=1e-12)
        np.testing.assert_allclose(moved[3:], product, atol=0)
        real = w * given[6] - np.dot([x, y, z], given[3:6])
        np.testing.assert_allclose(product[3], real, atol=1e-12)
