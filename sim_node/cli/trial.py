"""The smallest kernel that proves compiler and launch."""

# mypy: disable-error-code="valid-type,untyped-decorator"
# (an annotation of a kernel is a type of the kernel language)

from __future__ import annotations

import sim_node as sn
from sim_node.errors import SimNodeError


@sn.kernel
def axpy(a: float, x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)) -> None:
    """Add a multiple of one array to another."""
    i = sn.tid()
    y[i] = a * x[i] + y[i]


def run_trial() -> None:
    """Compile and launch the kernel; raises SimNodeError when its result is not what Python computes."""
    import numpy as np

    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    expected = np.float32(2.5) * x + y
    sn.launch(axpy, dim=1000, inputs=[2.5, sn.array(x, copy=False), sn.array(y, copy=False)])
    if not np.array_equal(y, expected):
        at = int((y != expected).argmax())
        raise SimNodeError(f"element {at} is {y[at]!r}, Python computes {expected[at]!r}")
