"""The field of the bridge bench on a GPU: what a tick makes of it, and what a reader does with it."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

import sim_node as sn


@sn.kernel
def count(x: sn.array(dtype=float), x_next: sn.array(dtype=float)):
    """Make each element the number of the next tick."""
    i = sn.tid()
    x_next[i] = x[i] + 1.0


@sn.kernel
def consume(x: sn.array(dtype=float), y: sn.array(dtype=float)):
    """Use each element."""
    i = sn.tid()
    y[i] = x[i] * 2.0
