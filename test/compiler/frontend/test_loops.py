"""Loops run as often as Python's, up to the ends of the integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import Stopped, run

from sim_node.compiler.frontend import lower
from sim_node.dtypes import SCALARS
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError

INTEGERS = [scalar for scalar in SCALARS if scalar.is_integer]

COUNTED = """
@sn.kernel
def k(start: t, stop: t, step: t, last: array(t), count: array(int)):
    last[0] = start
    for i in range(start, stop, {step}):
        last[0] = i
        count[0] += 1
        if count[0] == 40:
            break
"""


def counted(module, scalar, start, stop, step):
    last, count = np.zeros(1, scalar.numpy), np.zeros(1, np.int32)
    run(module, [start, stop, step, last, count])
    return int(last[0]), int(count[0])


@pytest.mark.parametrize("scalar", INTEGERS, ids=repr)
@pytest.mark.parametrize("known", [None, 1, -1, 3, -2, 1000])
def test_range(written, scalar, known):
    low, high = int(np.iinfo(scalar.numpy).min), int(np.iinfo(scalar.numpy).max)
    if known is not None and known < 0 and low == 0:
        return
    module = lower(written(COUNTED.format(step="step" if known is None else known), t=scalar)["k"])
    near = st.integers(low, min(low + 20, 0)) | st.integers(max(-9, low), 9) | st.integers(high - 20, high)
    steps = st.just(known) if known is not None else (near | st.sampled_from([low, high])).filter(bool)

    @settings(max_examples=60, deadline=None, database=None)
    @given(near, near, steps)
    def check(start, stop, step):
        numbers = range(start, stop, step)[:40]
        assert counted(module, scalar, start, stop, step) == (numbers[-1] if numbers else start, len(numbers))

    check()


def test_step_zero_at_run(kernel):
    module = lower(kernel("for i in range(0, 5, n):\n    pass"))
    with pytest.raises(Stopped) as stopped:
        run(module, [np.zeros(1, np.float32), np.zeros(1), np.zeros(1, np.int32), np.zeros((1, 3)), 0, 0.0, True])
    assert stopped.value.site.subject == "the step of the range is not 0"


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("for i in range(0, n, ¦0):\n    pass", BuildError, "the step of a range is 0", "a direction"),
        ("for i in ¦x:\n    pass", UnsupportedError, "a for loop runs over a range", "range(len(a))"),
        ("for i in ¦range(s):\n    pass", BuildTypeError, "range takes integers, not f32", "int(…)"),
        ("for i in ¦range():\n    pass", BuildTypeError, "range takes 1 to 3 integers", "range(stop)"),
        ("for i in ¦range(n, sn.int64(3)):\n    pass", BuildTypeError, "range mixes i32 and i64", "sn.int64(n)"),
        ("for ¦i, j in range(3):\n    pass", UnsupportedError, "a loop over a range has one name", "for i in range(n)"),
        ("for i in range(3):\n    pass\nelse:\n    ¦pass", UnsupportedError, "'else' of a loop", "set a bool"),
        ("while flag:\n    pass\nelse:\n    ¦pass", UnsupportedError, "'else' of a loop", "set a bool"),
        ("while ¦n:\n    pass", BuildTypeError, "a condition is a bool, and 'n' is i32", "n != 0"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


def test_while_false_and_code_after_return_are_left_out(kernel):
    module = lower(kernel("while False:\n    x[5] = 1.0\nreturn\nx[7] = 2.0"))
    assert not module.entry.sites
