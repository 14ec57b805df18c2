"""Loops over constants are written out where that is needed, and where they are short."""

import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.op import Op

LONG = "v = V()\nt = 1\nfor i in range(40):\n    {}"


@pytest.mark.parametrize(
    ("statement", "written_out"),
    [
        ("v[i] = 1.0", True), ("x[0] += v[39 - i]", True), ("x[0] += float(sn.static(i))", True),
        ("j = i\n    v[j] = 2.0", True), ("a[0] = (1, 2, 3)[0]", False), ("x[i] = 1.0", False),
        ("x[0] += float(sn.static(SIZE))", False), ("p[i][0] = 1.0", False),
    ],
)  # fmt: skip
def test_written_out(kernel, statement, written_out):
    entry = lower(kernel(LONG.format(statement), SIZE=2, V=sn.types.vector(40, float))).entry
    assert loops(entry) is not written_out


@pytest.mark.parametrize(
    ("times", "statements", "written_out"),
    [(1, 32, True), (8, 4, True), (8, 5, False), (33, 1, False), (0, 1, False), (0x7FFFFFFF, 1, False)],
)
def test_short_ones_are_written_out(kernel, times, statements, written_out):
    text = f"for i in range({times}):\n" + "    x[i] += s\n" * statements
    assert loops(lower(kernel(text)).entry) is not written_out


@pytest.mark.parametrize(("inner", "written_out"), [(5, True), (6, False)])
def test_nested_ones_count_together(kernel, inner, written_out):
    text = f"for i in range(3):\n    for j in range({inner}):\n        x[i] += s\n        x[j] -= s"
    assert loops(lower(kernel(text)).entry) is not written_out


def loops(entry):
    return any(block.end.op is Op.BRANCH for block in entry.blocks)


def test_a_counter_is_known_behind_a_branch_too(kernel):
    text = "v = sn.vec3()\nt = 1\nfor i in range(3):\n    if x[0] > 0.0:\n        t = 2\n    v[i] = SIZES[i]"
    entry = lower(kernel(text, SIZES=(4.0, 5.0, 6.0))).entry
    constants = {value.attr for block in entry.blocks for value in block.body if value.op is Op.CONST}
    assert constants >= {4.0, 5.0, 6.0}
