"""What plans leave in a trace: a span a launch of each round, in order and one inside the other; full is counted."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED

import sim_node as sn
from sim_node.runtime.trace import KERNEL, SPAN, WORKS, Trace


@sn.kernel
def double(x: sn.array(dtype=sn.float32)):
    x[sn.tid()] = 2.0 * x[sn.tid()]


@COMPILED
def test_a_plan_leaves_a_span_for_each_launch(device):
    trace = Trace()
    plan = sn.Plan(device, trace)
    x = sn.ones(100, dtype=sn.float32, device=device)
    for _ in range(3):
        plan.launch(double, dim=100, inputs=[x])
    plan.freeze()
    for _ in range(2):
        plan.run()
        spans = np.sort(trace.spans(), order="number")
        assert [WORKS[work] for work in spans["work"]] == ["kernel"] * 3
        assert spans["number"].tolist() == [0, 1, 2]
        assert (spans["end_ns"] >= spans["begin_ns"]).all()
        assert (spans["end_ns"][:-1] <= spans["begin_ns"][1:] + 1000).all()  # a GPU's clock tells half microseconds
    assert not len(trace.spans())
    assert np.array(x).tolist() == [64.0] * 100


def test_what_does_not_fit_is_counted():
    trace = Trace(4)
    plan = sn.Plan("cpu", trace)
    plan.launch(double, dim=1, inputs=[sn.ones(1, dtype=sn.float32)])
    plan.freeze()
    for _ in range(6):
        plan.run()
    assert (trace.waiting, trace.lost) == (4, 2)
    assert trace.spans()["work"].tolist() == [KERNEL] * 4
    plan.run()
    assert (trace.waiting, trace.lost) == (1, 2)


def test_a_trace_larger_than_memory_is_refused():
    with pytest.raises(MemoryError):
        Trace(2**61 // SPAN.itemsize)
