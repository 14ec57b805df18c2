"""Every sample computes under the IR what it computes as plain Python, bit for bit."""

import copy

import numpy as np
import pytest
from interpreter import run
from samples import LENGTH, SAMPLES, arguments, as_python

from sim_node.compiler.frontend import lower
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


def test_lowering_is_repeatable():
    for kernel in SAMPLES.values():
        first, second = lower(kernel), lower(kernel)
        assert list(first.functions) == list(second.functions)
        assert [len(f.blocks) for f in first.functions.values()] == [len(f.blocks) for f in second.functions.values()]
