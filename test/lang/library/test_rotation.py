"""Products of quaternions in plain Python, as in a kernel; test_products.py has the kernels."""

from sim_node.dtypes import quat as Quat
from sim_node.lang.library.rotation import quat_multiply


def test_units_multiply_as_hamilton_says():
    i, j, k, one = Quat(1, 0, 0, 0), Quat(0, 1, 0, 0), Quat(0, 0, 1, 0), Quat(0, 0, 0, 1)
    assert quat_multiply(i, j) == k
    assert quat_multiply(j, k) == i
    assert quat_multiply(k, i) == j
    assert quat_multiply(j, i) == Quat(0, 0, -1, 0)
    assert quat_multiply(i, i) == Quat(0, 0, 0, -1)
    assert quat_multiply(one, k) == k
