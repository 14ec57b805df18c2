"""Kernels whose IR is kept as text: small ones, each for one thing that the compiler does."""

from __future__ import annotations

import sim_node as sn
from sim_node.dtypes import ArrayType

floats = ArrayType(sn.float32)
integers = ArrayType(sn.int32)
points = ArrayType(sn.vec3)
SUBSTEPS = 40


@sn.func
def drag(v: sn.vec3, c: float):
    speed = sn.length(v)
    if speed == 0.0:
        return v
    return v * (c * speed)


@sn.kernel
def spring(x: points, v: points, k: float, c: float, m: float, dt: float, x_next: points, v_next: points):
    """Vectors, a func with two returns, in-place reuse of what was stored."""
    i = sn.tid()
    v_next[i] = v[i] - dt * (k * x[i] + drag(v[i], c)) / m
    x_next[i] = x[i] + dt * v_next[i]


@sn.kernel
def floor_division(a: integers, b: integers, out: integers):
    """Python's // and % with their checks."""
    i = sn.tid()
    out[i] = a[i] // b[i] + a[i] % 3


@sn.kernel
def loop(x: floats, out: floats):
    """A captured constant that a branch falls to, a loop with break and continue."""
    i = sn.tid()
    total = 0.0
    for j in range(SUBSTEPS):
        if SUBSTEPS == 0:
            break
        if x[i] < 0.0 and j > 1:
            continue
        total += x[i] * 0.1
    out[i] = total


@sn.kernel
def saturated(x: floats, low: float, high: float, flag: bool, out: integers):
    """Conversion, min and max, a scalar bool, short-circuit."""
    i = sn.tid()
    if flag or x[i] > high:
        out[i] = int(sn.min(sn.max(x[i], low), high) + 0.5)
