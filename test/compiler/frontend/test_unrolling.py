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
