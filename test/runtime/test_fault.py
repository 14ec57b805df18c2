import numpy as np
import pytest
from devices import EVERY, on

import sim_node as sn
from sim_node.errors import KernelError
from sim_node.runtime.launch import launch


@pytest.mark.parametrize(
    ("site", "what", "code"),
    [
        (0, "index 12 is outside array 'x' of length 10", "SN501"),
        (1, "integer division by zero in a // b", "SN502"),
        (2, "integer overflow in a // -1", "SN503"),
        (3, "mass > 0", "SN504"),
        (4, "index 12 is outside dimension 2 of array 'x', whose extent is 10", "SN501"),
    ],
)
def test_each_kind_of_site_says_what_happened(kernels, site, what, code):
    with pytest.raises(KernelError) as caught:
        launch(kernels.stop, 8, [site, 5])
    assert str(caught.value).splitlines()[:3] == [
        f"kernels.py:7:5: {what} in kernel 'stop', thread 5 [{code}]",
        "    y[i] = x[i]",
        "    ^",
    ]


def test_threads_that_do_not_stop_raise_nothing(kernels):
    launch(kernels.stop, 5, [0, 5])


F = sn.array(dtype=float)


@sn.kernel
def below(x: F):
    assert x[sn.tid()] < 0.5


@sn.kernel
def many(n: sn.array(dtype=sn.uint64)):
    assert n[sn.tid()] < 2**63, "too many"


@sn.kernel
def negative(n: sn.array(dtype=sn.int8), flag: bool):
    assert (n[0] < 0) != flag, "flag"
    assert n[0] >= 0


@sn.kernel
def halves(x: sn.array(dtype=sn.float16)):
    sn.expect_near(x[0], x[1], 0.05)


@sn.kernel
def vectors(v: sn.vec3):
    sn.expect_eq(v, 2.0 * v)


@sn.kernel
def near(v: sn.array(dtype=sn.vec3), y: F):
    i = sn.tid()
    sn.expect_near(v[i], sn.vec3(1.0), 0.5)
    y[i] = v[i].x


@sn.kernel
def known(n: int, y: F):
    i = sn.tid()
    assert i + 4 <= n
    y[i] = 1.0


def one(place: int, value: float, *shape: int) -> np.ndarray:
    """Ones but for that value in a place, and what comes behind it."""
    ones = np.ones(shape, np.float32)
    ones.reshape(-1)[place:] = value
    ones.reshape(-1)[place + 1 :] += 1.0
    return ones


@EVERY
@pytest.mark.parametrize(
    ("kernel", "dim", "arguments", "what"),
    [
        (below, 2, [np.array([0.1, 0.7], np.float32)], "x[sn.tid()] < 0.5: 0.7 < 0.5 is false"),
        (below, 2, [np.array([0.1, np.nan], np.float32)], "x[sn.tid()] < 0.5: nan < 0.5 is false"),
        (many, 2, [np.array([1, 2**64 - 1], np.uint64)], f"too many: {2**64 - 1} < {2**63} is false"),
        (negative, 1, [np.array([-3], np.int8), True], "flag: True != True is false"),
        (negative, 1, [np.array([-3], np.int8), False], "n[0] >= 0: -3 >= 0 is false"),
        (halves, 1, [np.array([0.1, 0.2], np.float16)], "differ by more than the tolerance: 0.1 == 0.2 is false"),
        (vectors, 1, [(1, 2, 3)], "the values differ"),
        (near, 150, [one(100, 2.25, 150, 3), np.zeros(150, np.float32)], "tolerance: 2.25 == 1.0 is false"),
        (known, 150, [143, np.zeros(150, np.float32)], "i + 4 <= n: 144 <= 143 is false"),
    ],
)
def test_a_comparison_tells_both_values(kernel, dim, arguments, what, device):
    with pytest.raises(KernelError) as caught:
        launch(kernel, dim, [on(device, one) for one in arguments], device=device)
    assert caught.value.what.endswith(what)
