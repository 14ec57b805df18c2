"""Every sample computes as IR and as machine code what it computes as plain Python, bit for bit."""

import copy

import numpy as np
import pytest
from interpreter import run
from samples import LENGTH, SAMPLES, arguments, as_python

from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import optimise
from sim_node.lang.builtins import thread


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name):
    kernel = SAMPLES[name]
    module = lower(kernel)
    for seed in range(3):
        args = arguments(kernel, seed)
        python = as_python(copy.deepcopy(args), kernel)
        for i in range(LENGTH):
            run(module, args, i)
            with thread(i), np.errstate(all="ignore"):
                kernel.function(*python)
        for got, wanted in zip(args, python):
            np.testing.assert_array_equal(got, np.asarray(wanted), strict=True)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_as_machine_code(name, execute):
    """Passes and code generation keep every bit, which the interpreter shows for both."""
    kernel = SAMPLES[name]
    module = lower(kernel)
    optimised = optimise(verify(module))
    for seed in range(3):
        plain, passed, compiled = (arguments(kernel, seed) for _ in range(3))
        for i in range(LENGTH):
            run(module, plain, i)
            run(optimised, passed, i)
        assert execute(module, LENGTH, *compiled).code == 0
        for wanted, *others in zip(plain, passed, compiled, strict=True):
            for got in others:
                np.testing.assert_array_equal(got, wanted, strict=True)


def test_lowering_is_repeatable():
    for kernel in SAMPLES.values():
        assert text(lower(kernel)) == text(lower(kernel))
