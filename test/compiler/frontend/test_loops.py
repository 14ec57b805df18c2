"""Loops run as often as Python's, up to the ends of the integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import Stopped, run

from sim_node.compiler.frontend import lower
from sim_node.dtypes import SCALARS
from sim_node.errors import BuildTypeError, BuildValueError, UnsupportedError

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
    if known is not None and not low <= known <= high:
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
        ("for i in range(0, n, ¦0):\n    pass", BuildValueError, "the step of a range is 0", "a direction"),
        (
            "for i in ¦x:\n    pass",
            UnsupportedError,
            "a for loop runs over a range, a tuple or a vector, and 'x' is an array of f32",
            "range(len(a))",
        ),
        ("for i in ¦range(s):\n    pass", BuildTypeError, "range takes integers, not f32", "int(…)"),
        ("for i in ¦range():\n    pass", BuildTypeError, "range takes 1 to 3 integers", "range(stop)"),
        ("for i in ¦range(n, sn.int64(3)):\n    pass", BuildTypeError, "range mixes i32 and i64", "sn.int64(n)"),
        ("for ¦i, j in range(3):\n    pass", UnsupportedError, "a loop over a range has one name", "for i in range(n)"),
        ("¦for i in range(2000):\n    x[0] = sn.static(i)", UnsupportedError, "more than 1024 times", "stay a loop"),
        (
            "for i in range(40):\n    ¦for j in range(40):\n        x[0] = sn.static(i + j)",
            UnsupportedError,
            "more than 1024 times",
            "stay a loop",
        ),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


def test_while_false_and_code_after_return_are_left_out(kernel):
    module = lower(kernel("while False:\n    x[5] = 1.0\nreturn\nx[7] = 2.0"))
    assert not module.entry.sites


# Python's meaning of every way through and out of a loop: CPython runs the same text.
PATHS = """
def k(a, n, m):
    for i in range(n):
        for j in range(m):
            if j == 2:
                continue
            if i + j == 4:
                break
            a[0] += 10 * i + j
        else:
            a[1] += 1
        if i == 3:
            break
    else:
        a[2] += 1
    i = 0
    while i < n:
        i += 1
        if i == m:
            break
        if i % 2:
            continue
        a[3] += i
    else:
        a[4] += 1
    for i in (5, 7, n):
        if i == m:
            break
        a[5] = a[5] * 10 + i
    else:
        a[6] = i
    for i in range(3):
        i = i + m
        a[7] += i
    while (i := i - 1) > 0:
        a[8] += 1
    while True:
        if i > n:
            break
        i += 1
    a[9] = i
"""


@pytest.mark.parametrize("n", [0, 1, 3, 5])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 6, 7])
def test_every_way_out_as_python(written, n, m):
    names = {}
    exec(PATHS, names)
    wanted, a = [0] * 10, np.zeros(10, np.int32)
    names["k"](wanted, n, m)
    made = written("@sn.kernel" + PATHS.replace("a, n, m", "a: array(int), n: int, m: int"))["k"]
    run(lower(made), [a, n, m])
    assert list(a) == wanted


def test_names_reused_and_reassigned(kernel):
    body = (
        "for i in range(3):\n    a[0] += i\nwhile i < 5:\n    i += 1\na[1] = i\n"
        "m = 2\nfor i in range(m):\n    a[2] += 1\nm = n\nfor i in range(m):\n    a[3] += 1"
    )
    a = np.zeros(4, np.int32)
    run(lower(kernel(body)), [np.zeros(1, np.float32), np.zeros(1), a, np.zeros((1, 3)), 6, 0.0, True])
    assert list(a) == [3, 5, 2, 6]
