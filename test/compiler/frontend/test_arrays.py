"""Arrays of 1 to 4 dimensions, their views and slices in kernels, against numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError, BuildTypeError, BuildValueError

SHAPE = (3, 4, 2, 5)


def kernel_of(written, body, ndim, **more):
    arrays = f"a: sn.array(dtype=int, ndim={ndim}), out: sn.array(dtype=int), n: int"
    return written(f"@sn.kernel\ndef k({arrays}):\n    {body}\n", **more)["k"]


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("form", ["together", "one by one"])
def test_elements(written, execute, ndim, form):
    names = "ijkl"[:ndim]
    picked = f"[{', '.join(names)}]" if form == "together" else "".join(f"[{name}]" for name in names)
    given = "\n    ".join(f"{name} = out[{at}]" for at, name in enumerate(names))
    made = lower(kernel_of(written, f"{given}\n    out[4] = a{picked}\n    a{picked} += n", ndim))
    a = np.arange(np.prod(SHAPE[:ndim]), dtype=np.int32).reshape(SHAPE[:ndim])
    for place in itertools.islice(itertools.product(*map(range, SHAPE[:ndim])), 0, None, 7):
        out, before = np.zeros(5, np.int32), a[place]
        out[:ndim] = place
        assert execute(made, 1, a, out, 1000).code == 0
        assert out[4] == before
        assert a[place] == before + 1000
    outside = np.array([*SHAPE[:ndim], *[0] * (5 - ndim)], np.int32)
    assert execute(made, 1, a, outside, 0).code == 1


@pytest.mark.parametrize(
    "view",
    [
        "a[1]", "a[-1]", "a[0:2]", "a[1:]", "a[:, 2]", "a[::2, 1:]", "a[1, ::3]", "a[::-1]", "a[:, ::-2]", "a[5:9]",
        "a[-2:, -3:-1]", "a[1:2, :, 0]", "a[2:0:-1, 0]", "a[:][1]", "a[::2][1:]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ndim", [3, 2])
def test_views(written, execute, view, ndim):
    if view.count(",") >= ndim:
        return
    a = np.arange(np.prod(SHAPE[:ndim]), dtype=np.int32).reshape(SHAPE[:ndim])
    want = eval(view)
    loops, indent = "", "    "
    for axis in range(want.ndim):
        loops += f"{indent}for x{axis} in range(v.shape[{axis}]):\n"
        indent += "    "
    place = ", ".join(f"x{axis}" for axis in range(want.ndim))
    made = kernel_of(
        written, f"v = {view}\n    count = int(0)\n{loops}{indent}out[count] = v[{place}]\n{indent}count += 1", ndim
    )
    out = np.full(want.size + 1, -1, np.int32)
    assert execute(lower(made), 1, a, out, 0).code == 0
    np.testing.assert_array_equal(out, [*want.reshape(-1), -1])


def test_run_time_ends_are_clamped_as_in_python(written, execute):
    made = lower(
        kernel_of(
            written, "v = a[out[0]:out[1]]\n    out[2] = v.shape[0]\n    if v.shape[0] > 0:\n        out[3] = v[0]", 1
        )
    )
    a = np.arange(5, dtype=np.int32)
    for start, stop in itertools.product(range(-7, 8), repeat=2):
        out = np.array([start, stop, 0, -1], np.int32)
        assert execute(made, 1, a, out, 0).code == 0
        want = a[start:stop]
        assert out[2:].tolist() == [len(want), want[0] if len(want) else -1]


def test_a_run_time_step_goes_both_ways_and_stops_the_thread_at_0(written, execute):
    made = lower(
        kernel_of(written, "v = a[::out[0]]\n    out[1] = v.shape[0]\n    out[2] = v[0]\n    out[3] = v[-1]", 1)
    )
    a = np.arange(5, dtype=np.int32)
    for step in (-7, -2, -1, 1, 2, 7):
        out, want = np.array([step, 0, 0, 0], np.int32), a[::step]
        assert execute(made, 1, a, out, 0).code == 0
        assert out[1:].tolist() == [len(want), want[0], want[-1]]
    assert execute(made, 1, a, np.zeros(4, np.int32), 0).code == 1


@pytest.mark.parametrize(
    ("kind", "ends"),
    [("int64", (0, 5, 2**32)), ("int64", (2**32 + 1, 5, 1)), ("int64", (4, 0, -(2**32) - 1)),
     ("int64", (0, 2**63 - 1, 2)), ("int64", (-(2**63), -1, 1)), ("int32", (4, 0, -(2**31))),
     ("uint32", (0, 2**32 - 1, 3)), ("uint64", (2**64 - 1, 2, 1))],
)  # fmt: skip
def test_ends_and_steps_of_any_width_are_clamped_as_in_python(written, execute, kind, ends):
    words = ":".join(f"sn.{kind}(e[{at}])" for at in range(3))
    names = written(
        f"@sn.kernel\ndef k(a: array(int), e: array(sn.uint64), out: array(int)):\n    out[0] = len(a[{words}])\n"
    )
    out, a = np.zeros(1, np.int32), np.arange(5, dtype=np.int32)
    given = np.array([end % 2**64 for end in ends], np.uint64)
    assert execute(lower(names["k"]), 1, a, given, out).code == 0
    assert out[0] == len(a[slice(*ends)])


@pytest.mark.parametrize(
    ("body", "family", "what"),
    [
        ("x = a[0, 1, 2]", BuildTypeError, "has 2 dimensions, not 3"),
        ("x = a[1.0, 2]", BuildTypeError, "an index is an integer"),
        ("x = a[::0]", BuildValueError, "Slice step cannot be zero"),
    ],
)
def test_what_is_no_index(written, body, family, what):
    with pytest.raises(BuildError) as caught:
        lower(kernel_of(written, body, 2))
    assert type(caught.value) is family
    assert what in caught.value.what


@pytest.mark.parametrize("kind", ["sn.uint8", "sn.int8", "sn.int16", "sn.uint32", "sn.int64"])
def test_an_index_of_any_width_is_compared_with_the_whole_length(written, execute, kind):
    made = lower(kernel_of(written, f"i = sn.tid()\n    out[i] = a[{kind}(i + n)]", 1))
    out = np.zeros(3, np.int32)
    assert execute(made, 3, np.arange(300, dtype=np.int32), out, 100).code == 0
    assert out.tolist() == [100, 101, 102]


@pytest.mark.parametrize(
    ("element", "index"),
    [("a[9, a[7, 0]]", 7), ("a[9, a[0, 8]]", 8), ("a[9:, a[7, 0]][0]", 7), ("m[n, a[7, 0]]", 7), ("m[n, 0]", 5)],
)
def test_every_index_is_evaluated_before_one_is_checked(written, execute, element, index):
    """As in Python: where an index and one inside of the next are outside, the inner one is at fault."""
    made = lower(kernel_of(written, f"m = sn.mat22()\n    out[0] = int({element})", 2))
    assert execute(made, 1, np.zeros((2, 3), np.int32), np.zeros(1, np.int32), 5).index == index
