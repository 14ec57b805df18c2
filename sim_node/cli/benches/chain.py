"""A link of a chain of small kernels, each of which reads what the one before it wrote, as each of those writes it."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language, and in those of the peers)

from __future__ import annotations

from typing import Any

import numpy as np

import sim_node as sn


@sn.kernel
def link(x: sn.array(dtype=float), y: sn.array(dtype=float)):
    """Ours."""
    i = sn.tid()
    y[i] = 0.75 * x[i] + 0.25


def start(n: int) -> np.ndarray[Any, Any]:
    """Make what the first kernel reads, float32."""
    return np.linspace(0.5, 1.5, n, dtype=np.float32)


def warp() -> tuple[Any, Any]:
    """Give Warp's module, started, and its kernel. Raises ImportError where Warp is not installed."""
    import warp as wp

    wp.config.quiet = True
    wp.config.enable_backward = False
    wp.init()

    def link(x: wp.array(dtype=float), y: wp.array(dtype=float)) -> None:
        i = wp.tid()
        y[i] = 0.75 * x[i] + 0.25

    return wp, wp.kernel(link)


def cupy() -> tuple[Any, Any]:
    """Give CuPy and its elementwise kernel. Raises ImportError where CuPy is not installed."""
    import cupy as cp

    return cp, cp.ElementwiseKernel("float32 x", "float32 y", "y = 0.75f * x + 0.25f", "link")
