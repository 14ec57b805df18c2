import numpy as np

import sim_node as sn
from sim_node.cli.benches import lattice


def test_a_step_is_what_the_equations_say():
    f = lattice.state(7, 12)
    f += np.random.default_rng(1).uniform(0, 0.01, f.shape).astype(np.float32)
    g = np.zeros_like(f)
    sn.launch(lattice.step, (7, 12), inputs=[f, g, lattice.OMEGA])
    np.testing.assert_allclose(g, lattice.expression(f.astype(np.float64), lattice.OMEGA), rtol=2e-6)
    np.testing.assert_allclose(g.sum(), f.sum(), rtol=1e-5)
