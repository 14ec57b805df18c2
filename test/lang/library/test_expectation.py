"""A check that holds does nothing; one that fails stops the thread and says where."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import KernelError


@sn.kernel
def equal(a: sn.array[float], b: sn.array[float]):
    i = sn.tid()
    sn.expect_eq(a[i], b[i])


@sn.kernel
def unequal(a: sn.array[float], b: sn.array[float]):
    i = sn.tid()
    sn.expect_neq(a[i], b[i])


@sn.kernel
def near(a: sn.array[float], b: sn.array[float]):
    i = sn.tid()
    sn.expect_near(a[i], b[i], 0.5)


@sn.kernel
def near_vectors(a: sn.array[sn.vec3], b: sn.array[sn.vec3]):
    i = sn.tid()
    sn.expect_near(a[i], b[i])


@pytest.mark.parametrize(
    ("kernel", "other", "stops"),
    [
        (equal, 1.0, False),
        (equal, 2.0, True),
        (equal, np.nan, True),
        (unequal, 1.0, True),
        (unequal, 2.0, False),
        (near, 1.5, False),
        (near, 1.75, True),
        (near, np.nan, True),
        (near_vectors, (1.0, 1.0, 1.0000005), False),
        (near_vectors, (1.0, 1.0, 1.001), True),
    ],
)
def test_a_failed_check_stops_its_thread(kernel, other, stops):
    a = np.ones((4, 3) if kernel is near_vectors else 4, np.float32)
    b = a.copy()
    sn.launch(kernel, 0, inputs=[a, b])
    b[2] = other
    if kernel is unequal:
        a[:2] = a[3] = 5
    if not stops:
        sn.launch(kernel, 4, inputs=[a, b])
        return
    with pytest.raises(KernelError) as caught:
        sn.launch(kernel, 4, inputs=[a, b])
    assert caught.value.thread == 2
    assert "expect_" in str(caught.value)
    assert f"called from {kernel.name} at {__file__}" in str(caught.value)


def test_any_types_that_compare():
    @sn.kernel
    def k():
        sn.expect_eq(123, 123)
        sn.expect_neq(True, False)
        sn.expect_eq(sn.vec2(1.0, 2.0), sn.vec2(1.0, 2.0))
        sn.expect_neq(sn.vec2(1.0, 2.0), sn.vec2(1.0, 3.0))
        sn.expect_eq(sn.uint64(0x8000000000000000), sn.uint64(0x8000000000000000))
        sn.expect_near(sn.float64(1.0), 1.0 + 1e-7)

    sn.launch(k, 2)


def test_in_plain_python_too():
    sn.expect_eq(1, 1)
    sn.expect_neq(1, 2)
    with pytest.raises(AssertionError, match="expect_eq"):
        sn.expect_eq(1, 2)


def test_infinities_are_near_each_other_where_they_are_equal():
    a = np.array([np.inf, -np.inf, np.inf], np.float32)
    sn.launch(near, 3, inputs=[a, a])
    with pytest.raises(KernelError, match="inf == -inf is false in kernel 'near', thread 2"):
        sn.launch(near, 3, inputs=[a, np.array([np.inf, -np.inf, -np.inf], np.float32)])
