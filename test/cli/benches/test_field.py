"""The kernels of the bridge bench on a GPU."""

import numpy as np

import sim_node as sn
from sim_node.cli.benches import field


def test_a_tick_counts_and_a_reader_uses_each_element():
    x, y = np.full(5, 6.0, np.float32), np.zeros(5, np.float32)
    sn.launch(field.count, 5, [x], [y])
    assert y.tolist() == [7] * 5
    sn.launch(field.consume, 5, [x], [y])
    assert y.tolist() == [12] * 5
