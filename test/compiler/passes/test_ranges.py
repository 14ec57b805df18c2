"""What is dropped is what passes in every run: told by examples, and by random kernels beside the device python."""

import copy
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indices import Indices, arguments, kernel

import sim_node as sn
from sim_node.compiler.inspection import inspection
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.ranges import ranges
from sim_node.errors import BuildError, KernelError

STATES = {
    # a guard, a loop, a remainder, a clamp
    "if i < x.shape[0]: s += x[i]": ["removed"],
    "if n >= 0 and n < x.shape[0]: s += x[n]": ["removed"],
    "v = x[i]; if v >= 0 and v < x.shape[0]: s += x[v]": ["hoisted", "removed"],
    "v = x[i]; if 0 <= v < x.shape[0] - 1: s += x[v + 1]": ["hoisted", "removed"],
    "if i > 0 and i < x.shape[0] - 1: s += x[i + 1] - x[i - 1]": ["removed", "removed"],
    "v = x[i]; if v >= 0: s += x[v % x.shape[0]]": ["hoisted", "removed"],
    "for j in range(x.shape[0]): s += x[j]": ["removed"],
    "for j in range(1, x.shape[0]): s += x[j - 1]": ["removed"],
    "for j in range(x.shape[0] - 1, -1, -1): s += x[j]": ["removed"],
    "for j in range(n): s += x[j]": ["hoisted"],
    "for j in range(y.shape[1]): s += y[i, j]": ["hoisted", "removed"],
    "v = x[i] & 255; s += x[v]": ["hoisted", "hoisted"],
    "v = min(max(x[i], 0), 7); s += x[v]": ["hoisted", "hoisted"],
    "if x.shape[0] > 0: s += x[(i - 1) % x.shape[0]]": ["removed"],
    # affine indices
    "s += x[i + 1] + x[i - 1]": ["hoisted", "hoisted"],
    "s += x[3 * i + 2]": ["hoisted"],
    "s += x[i * n + m]": ["hoisted"],
    "s += x[n]": ["hoisted"],
    "s += x[i // 2]": ["hoisted"],
    # what is read from memory keeps its check
    "s += x[x[i]]": ["hoisted", "kept"],
    "v = x[i]; s += x[v] + x[v]": ["hoisted", "kept", "removed"],
    "for j in range(3, n): s += x[x[j]]": ["hoisted", "kept"],
}  # fmt: skip


def made(statements):
    head = "def k(x: sn.array(dtype=int), y: sn.array(dtype=int, ndim=2), out: sn.array(dtype=int), n: int, m: int):"
    lines = [f"    {line}" for line in statements.split("; ")]
    text = [
        "import sim_node as sn",
        "",
        "@sn.kernel",
        head,
        "    i = sn.tid()",
        "    s = int(0)",
        *lines,
        "    out[i] = s",
    ]
    return kernel("\n".join(text) + "\n", f"<{statements}>")


@pytest.mark.parametrize("statements", STATES)
def test_what_becomes_of_a_check(statements):
    found = inspection(made(statements)).checks
    of_indices = [check.state for check in found if check.kind.startswith("index") and check.subject != "out"]
    assert of_indices == STATES[statements]


def test_a_condition_that_always_comes_out_the_same_is_decided():
    source = """
    kernel @k(array<i32> %x, i32 %n) {
    b0:
      %w = extract i32 %x {1}
      %p = extract ptr %x {0}
      %zero = const i32 {0}
      %negative = lt bool %w, %zero
      %one = const i32 {1}
      %either = select i32 %negative, %one, %n
      %at = bounds i32 %either, %w {0}
      %to = offset ptr %p, %at {4}
      store %to, %n {0}
      return
    }
    """
    before = verify(parse(source))
    after = verify(ranges(before))
    assert {value.op for value in after.entry.blocks[0].body} == {Op.EXTRACT, Op.BOUNDS, Op.OFFSET, Op.STORE}
    assert verify(ranges(after)) == after


def outcome(made, dim, args, device):
    given_args = copy.deepcopy(args)
    try:
        sn.launch(made, dim, inputs=given_args, device=device)
        told = ""
    except KernelError as error:
        told = str(error)[: str(error).rindex("launched")]
    return told, [np.asarray(arg).tobytes() for arg in given_args]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not know in which column it is")
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_every_stop_is_that_of_the_device_python(seed):
    """The same message, first thread, index and length, and the same memory."""
    writer = Indices(seed)
    text = writer.text()
    made = kernel(text, f"<indices {seed}>")
    for number in range(4):
        dim, args = arguments(seed + number, writer.axes)
        try:
            assert outcome(made, dim, args, "python") == outcome(made, dim, args, "cpu"), text
        except BuildError:  # constants that are no i32
            return


@pytest.mark.parametrize(("kind", "count"), [("uint8", 12), ("int8", 10), ("uint16", 20), ("int32", 34), ("int64", 70)])
def test_a_shift_goes_as_far_as_its_count_is_masked(kind, count):
    """The lowest bits of the count, as many as number those of the type: 12 is 4 for 8 bits."""
    text = (
        f"import sim_node as sn\n@sn.kernel\ndef k(x: sn.array(dtype=sn.{kind}, ndim=2), y: sn.array(dtype=int)):\n"
        "    i = sn.tid()\n"
        f"    v = x[:, ::1][i, 0] >> sn.{kind}({count})\n    if v:\n        y[i] = int(v)\n"
        f"    if v < sn.{kind}(3):\n        y[i] += 50\n"
    )
    made = kernel(text, f"<shift {kind}>")
    x = np.arange(128, dtype=kind)[:, None]
    wanted, given = (outcome(made, 128, [x, np.zeros(128, np.int32)], device) for device in ("python", "cpu"))
    assert given == wanted
    assert np.frombuffer(given[1][1], np.int32).max() > 1
