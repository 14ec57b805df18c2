"""Loops over constants are written out only where that is needed."""

import pytest

from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.op import Op

LOOP = "v = sn.vec3()\nt = 1\nfor i in range(3):\n    {}"


@pytest.mark.parametrize(
    ("statement", "written_out"),
    [
        ("v[i] = 1.0", True), ("x[0] += v[2 - i]", True), ("x[0] += float(sn.static(i))", True),
        ("j = i\n    v[j] = 2.0", True), ("a[0] = (1, 2, 3)[0]", False), ("x[i] = 1.0", False),
        ("x[0] += float(sn.static(SIZE))", False), ("p[i][0] = 1.0", False),
    ],
)  # fmt: skip
def test_written_out(kernel, statement, written_out):
    entry = lower(kernel(LOOP.format(statement), SIZE=2)).entry
    loops = any(block.end.op is Op.BRANCH for block in entry.blocks)
    assert loops is not written_out


def test_a_counter_is_known_behind_a_branch_too(kernel):
    text = "v = sn.vec3()\nt = 1\nfor i in range(3):\n    if x[0] > 0.0:\n        t = 2\n    v[i] = SIZES[i]"
    entry = lower(kernel(text, SIZES=(4.0, 5.0, 6.0))).entry
    constants = {value.attr for block in entry.blocks for value in block.body if value.op is Op.CONST}
    assert constants >= {4.0, 5.0, 6.0}
