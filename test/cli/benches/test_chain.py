"""Everyone measured computes the same link."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.cli.benches import chain


def test_a_link_reads_one_array_and_writes_the_next():
    x, y = chain.start(4), np.zeros(4, np.float32)
    sn.launch(chain.link, dim=4, inputs=[x], outputs=[y])
    np.testing.assert_array_equal(y, np.float32(0.75) * x + np.float32(0.25))
    assert x[0] == 0.5


def test_warp_has_the_same_link():
    pytest.importorskip("warp", reason="make setup BENCH=1 brings warp-lang")
    wp, link = chain.warp()
    x, y, z = chain.start(4), np.zeros(4, np.float32), np.zeros(4, np.float32)
    sn.launch(chain.link, dim=4, inputs=[x], outputs=[y])
    wp.launch(link, 4, inputs=[wp.array(x, copy=False), wp.array(z, copy=False)], device="cpu")
    np.testing.assert_allclose(y, z, rtol=1e-6)
