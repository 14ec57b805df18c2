import numpy as np

import sim_node as sn
from sim_node.cli.benches import lattice, oscillator
from sim_node.cli.benches.unchecked import unchecked
from sim_node.compiler.inspection import inspection
from sim_node.runtime import program


@sn.kernel
def gather(x: sn.array(dtype=float), at: sn.array(dtype=int), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = x[at[i]]


def test_without_checks_it_computes_the_same():
    x, at, y = np.arange(9, dtype=np.float32), np.array([3, 8, 0, 1], np.int32), np.zeros(4, np.float32)
    assert "kept" in {check.state for check in inspection(gather).checks}
    sn.launch(unchecked(gather), 4, inputs=[x, at, y])
    assert y.tolist() == [3.0, 8.0, 0.0, 1.0]
    f, ours, theirs = lattice.state(5, 9), np.zeros((9, 5, 9), np.float32), np.zeros((9, 5, 9), np.float32)
    for kernel, g in ((lattice.step, ours), (unchecked(lattice.step), theirs)):
        sn.launch(kernel, (5, 9), inputs=[f, g, 1.0])
    np.testing.assert_array_equal(ours, theirs)


def test_on_a_gpu_too(simulate):
    gpu = simulate().device
    x, v = (sn.array(values, dtype=float, device=gpu) for values in oscillator.state(5))
    a, b = oscillator.state(5)
    made = unchecked(oscillator.step, gpu)
    sn.launch(made, 5, inputs=[x, v, *oscillator.SCALARS], device=gpu)
    sn.launch(oscillator.step, 5, inputs=[a, b, *oscillator.SCALARS])
    np.testing.assert_array_equal(x.numpy(), a)
    assert not program.load(made, gpu).program.sites


def test_it_is_another_kernel():
    assert unchecked(oscillator.step) is not oscillator.step
    assert sn.get_module(__name__).kernels["gather"] is gather
