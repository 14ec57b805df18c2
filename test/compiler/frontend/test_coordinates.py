"""``sn.tid()`` of one to four coordinates."""

from __future__ import annotations

import pytest

from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.op import Op
from sim_node.errors import BuildError


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_axes(kernel, count):
    names = ", ".join("bcef"[:count])
    entry = lower(kernel(f"{names} = sn.tid()\na[0] = {' + '.join('bcef'[:count])}")).entry
    used = {value.attr for block in entry.blocks for value in block.body if value.op is Op.TID}
    assert used == set(range(count))
    assert entry.dims == count


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("b, c, e, f, g = sn.tid()", "1 to 4 coordinates, not 5"),
        ("b, c = sn.tid()\ne = sn.tid()", "has 1 coordinate here and 2 elsewhere"),
    ],
)
def test_what_no_launch_has(kernel, body, what):
    with pytest.raises(BuildError, match=what):
        lower(kernel(body))
