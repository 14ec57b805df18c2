"""Words for what kernels cannot take in."""

import math

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.frontend.outside import known, refusal


@pytest.mark.parametrize("thing", [math, sn.vec3, sn.float32, sn.sqrt, sn.clamp, len, range, print])
def test_known(thing):
    assert known(thing)


@pytest.mark.parametrize(
    ("thing", "what", "remedy"),
    [
        (np.float64, "a type of numpy's", "sn.float64(x)"),
        (np.zeros(9), "an array outside of the kernel", "as a parameter"),
        (math.sin, "Python code", "sn.sin"),
        (input, "Python code", "@sn.func"),
        ("".join, "Python code", "@sn.func"),
        ("text", "of type str", "under a name of its own"),
        ([1], "of type list", "sn.static(g[…])"),
    ],
)
def test_refusals(thing, what, remedy):
    assert not known(thing)
    said, advice = refusal(thing, "g")
    assert said.startswith("'g' is ")
    assert what in said
    assert remedy in advice
