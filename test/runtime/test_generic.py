"""Kernels with open types are built for the arguments of each launch."""

from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import LaunchError


@sn.func
def double(x: Any):
    return x + x


@sn.kernel
def fill(x: sn.array(dtype=Any), value: Any):
    x[sn.tid()] = double(value)


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [(int, 4, 8), (float, 1.5, 3.0), (sn.float64, np.float64(0.1), 0.2), (sn.uint64, np.uint64(2**63 - 1), 2**64 - 2)],
)
def test_each_launch_chooses(dtype, value, wanted):
    x = sn.zeros(2, dtype=dtype)
    sn.launch(fill, 2, inputs=[x, value])
    assert list(x.numpy()) == [wanted, wanted]
    known = len(fill.overloads)
    sn.launch(fill, 2, inputs=[x.numpy(), value])
    assert len(fill.overloads) == known


def test_an_overload_is_launched_as_it_is_and_shared():
    made = sn.overload(fill, {"x": sn.array(dtype=int), "value": int})
    x = sn.zeros(1, dtype=int)
    sn.launch(made, 1, inputs=[x, 1])
    entry = made.entry
    sn.launch(fill, 1, inputs=[x, 2])
    assert x.numpy()[0] == 4
    assert made.entry is entry
    assert fill.entry is None


def test_in_a_plan():
    plan, x = sn.Plan(), sn.zeros(3, dtype=sn.float64)
    plan.launch(fill, 3, inputs=[x, np.float64(2.0)])
    plan.freeze()
    plan.run()
    assert list(x.numpy()) == [4.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ([3, 3], "argument 'x' of kernel 'fill' is array<Any>, and i32 was given"),
        (["text", 3], "argument 'x' of kernel 'fill' is array<Any>, and str was given"),
        (
            [np.zeros(2), "text"],
            "argument 'value' of kernel 'fill' is anything .* and str was given",
        ),
        ([np.zeros(2)], "has no argument for 'value', whose type is left open"),
    ],
)
def test_refused(inputs, what):
    with pytest.raises(LaunchError, match=what):
        sn.launch(fill, 1, inputs=inputs)
