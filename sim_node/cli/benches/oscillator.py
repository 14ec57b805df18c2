"""One semi-implicit Euler step of a damped spring, as each of those writes it who are measured with it."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language, and in those of the peers)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sim_node as sn

# N/(m kg), N s/(m kg), s: what the benches pass as stiffness, damping and step
SCALARS = (100.0, 0.5, 1e-4)


@sn.kernel
def step(x: sn.array(dtype=float), v: sn.array(dtype=float), k: float, c: float, dt: float):
    """Ours: two arrays and three scalars, the shape of a typical launch."""
    i = sn.tid()
    v[i] = v[i] + dt * (-k * x[i] - c * v[i])
    x[i] = x[i] + dt * v[i]


def state(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make positions and velocities of n springs, float32: released at rest, each from its own place."""
    return np.linspace(0.5, 1.5, n, dtype=np.float32), np.zeros(n, np.float32)


def warp() -> tuple[Any, Any]:
    """Give Warp's module, started, and its kernel. Raises ImportError where Warp is not installed."""
    import warp as wp

    wp.config.quiet = True
    wp.init()

    def step(x: wp.array(dtype=float), v: wp.array(dtype=float), k: float, c: float, dt: float) -> None:
        i = wp.tid()
        v[i] = v[i] + dt * (-k * x[i] - c * v[i])
        x[i] = x[i] + dt * v[i]

    return wp, wp.kernel(step)


def numba() -> tuple[Any, Callable[..., None]]:
    """Give numba's module and its function. Raises ImportError where numba is not installed."""
    import numba as nb

    @nb.njit
    def step(x, v, k, c, dt):
        for i in range(x.size):
            v[i] = v[i] + dt * (-k * x[i] - c * v[i])
            x[i] = x[i] + dt * v[i]

    return nb, step


def numba_cuda() -> tuple[Any, Any]:
    """Give numba's module of GPUs and its kernel. Raises ImportError where numba is not installed."""
    from numba import cuda

    @cuda.jit
    def step(x, v, k, c, dt):
        i = cuda.grid(1)
        if i < x.size:
            v[i] = v[i] + dt * (-k * x[i] - c * v[i])
            x[i] = x[i] + dt * v[i]

    return cuda, step


def cupy() -> tuple[Any, Any]:
    """Give CuPy and its fused elementwise kernel, of scalars, x and v. Raises ImportError where CuPy is not there."""
    import cupy as cp

    text = "v = v + dt * (-k * x - c * v); x = x + dt * v"
    return cp, cp.ElementwiseKernel("float32 k, float32 c, float32 dt", "float32 x, float32 v", text, "spring")


def expression(x: Any, v: Any, k: Any, c: Any, dt: Any) -> None:
    """Numpy's, an expression over whole arrays."""
    v += dt * (-k * x - c * v)
    x += dt * v
