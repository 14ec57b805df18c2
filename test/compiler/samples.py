"""Kernels that between them use every form of the language; each also runs as plain Python on numpy arrays.

``arguments`` makes inputs for any of them. Arrays have LENGTH elements, one for each thread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.dtypes import ArrayType, Scalar, Vector
from sim_node.lang.kernel import Kernel

LENGTH = 9
F, D, N, L, U = (ArrayType(t) for t in (sn.float32, sn.float64, sn.int32, sn.int64, sn.uint32))
V2, V3, V3D, V4 = (ArrayType(t) for t in (sn.vec2, sn.vec3, sn.vec3d, sn.vec4))

GAIN = 2.5
LIMITS = (-1.0, 1.0)
COUNT = np.int64(3)
FINE = False


class Vec(np.ndarray):
    """How a kernel sees a vector, for plain Python: components by name."""

    x, y, z, w = (
        property(lambda self, i=i: self[..., i], lambda self, value, i=i: self.__setitem__((..., i), value))
        for i in range(4)
    )


def arguments(kernel: Kernel, seed: int = 0) -> list[Any]:
    """Make an argument for each parameter: finite floats of mixed signs, small integers, zeros among them."""
    random = np.random.default_rng(seed)
    kinds = [_annotation(kernel, name) for name in kernel.function.__annotations__]
    return [_array(kind.dtype, random) if isinstance(kind, ArrayType) else _array(kind, random)[1] for kind in kinds]


def _annotation(kernel: Kernel, name: str) -> Any:
    kind = eval(kernel.function.__annotations__[name], kernel.function.__globals__)
    return {float: sn.float32, int: sn.int32}.get(kind, kind)


def _array(dtype: Any, random: np.random.Generator) -> Any:
    shape = (LENGTH,) if isinstance(dtype, Scalar) else (LENGTH, dtype.length)
    if dtype.is_float:
        values = random.normal(0.0, 2.0, shape)
        values[random.integers(0, LENGTH)] = 0.0
        return np.round(values, 3).astype(dtype.numpy)
    low = 0 if dtype.scalar.kind.value == "u" else -5
    return random.integers(low, 9, shape).astype(dtype.numpy)


def as_python(args: list[Any], kernel: Kernel) -> list[Any]:
    """The same arguments as plain Python needs them: arrays of vectors give their components names."""
    kinds = [_annotation(kernel, name) for name in kernel.function.__annotations__]
    vectors = [isinstance(kind, ArrayType) and isinstance(kind.dtype, Vector) for kind in kinds]
    return [arg.view(Vec) if vector else arg for arg, vector in zip(args, vectors, strict=True)]


@sn.func
def half(x: float) -> float:
    return x * 0.5


@sn.func
def saturate(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@sn.func
def digits(n: int):
    count = 0
    while n > 0:
        n = n // 10
        count += 1
    return count


@sn.func
def put(out: F, i: int, value: float):
    out[i] = value


@sn.func
def scaled(x, factor=3.0):
    return half(x) * factor


@sn.kernel
def arithmetic(x: F, y: F, out: F):
    i = sn.tid()
    out[i] = (x[i] + y[i]) * x[i] - -y[i] / 2.0 + +x[i]


@sn.kernel
def integers(a: N, b: N, out: N):
    """Wrapping and flooring."""
    i = sn.tid()
    d = 3 if b[i] == 0 else b[i]
    out[i] = a[i] // d * 7 + a[i] % d - (a[i] & b[i] | 5 ^ ~a[i]) + (a[i] << 3) + (a[i] >> 1)


@sn.kernel
def unsigned(a: U, out: U):
    i = sn.tid()
    out[i] = (a[i] - 5) // 3 + a[i] % 4 + (a[i] >> 1)


@sn.kernel
def longs(a: N, out: L):
    i = sn.tid()
    wide = sn.int64(a[i])
    out[i] = wide * 5_000_000_000 + COUNT


@sn.kernel
def doubles(x: F, out: D):
    i = sn.tid()
    out[i] = sn.float64(x[i]) * 0.1 + math.pi


@sn.kernel
def floats_floor(x: F, y: F, out: F):
    i = sn.tid()
    d = y[i] if y[i] != 0.0 else 0.75
    out[i] = x[i] // d + x[i] % d


@sn.kernel
def captured(x: F, out: F):
    i = sn.tid()
    low, high = LIMITS
    out[i] = x[i] * GAIN + LIMITS[1] - low * high


@sn.kernel
def static(x: F, out: F):
    i = sn.tid()
    step = 0.5
    if FINE:
        step = 0.25 * undefined_unless_fine  # noqa: F821
    out[i] = x[i] * step


@sn.kernel
def branches(x: F, out: N):
    i = sn.tid()
    if x[i] > 1.0:
        kind = 2
    elif x[i] > 0.0:
        kind = 1
    elif x[i] == 0.0:
        kind = 0
    else:
        kind = -1
    out[i] = kind


@sn.kernel
def nested(a: N, b: N, out: N):
    i = sn.tid()
    r = 0
    if a[i] > 0:
        if b[i] > 0:
            r = 1
        else:
            r = 2
            if a[i] > 3:
                r += 10
    out[i] = r


@sn.kernel
def early_return(x: F, out: F):
    i = sn.tid()
    if i >= len(x) - 2:
        return
    out[i] = x[i] + x[i + 2]


@sn.kernel
def logic(x: F, y: F, out: N):
    i = sn.tid()
    flag = (x[i] > 0.0 and y[i] > 0.0) or not x[i] < y[i]
    out[i] = int(flag) + (1 if flag != (x[i] == y[i]) else 0)


@sn.kernel
def short_circuit(a: N, x: F, out: N):
    i = sn.tid()
    inside = 0 <= a[i] < len(x) and x[a[i]] > 0.0
    outside = a[i] < 0 or a[i] >= len(x) or x[a[i]] <= 0.0
    out[i] = (1 if inside else 0) + (2 if outside else 0)


@sn.kernel
def chained(a: N, b: N, out: N):
    i = sn.tid()
    out[i] = int(-2 < a[i] <= b[i] != 4) + int(0 < digits(a[i]) < digits(b[i]) < 3)


@sn.kernel
def ternary(a: N, x: F, out: F):
    i = sn.tid()
    out[i] = x[a[i]] if 0 <= a[i] < len(x) else -1.0 if a[i] < 0 else 1.0


@sn.kernel
def while_loop(a: N, out: N):
    i = sn.tid()
    n = a[i] + 6
    steps = 0
    while n != 1 and steps < 50:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    out[i] = steps


@sn.kernel
def while_true(a: N, out: N):
    i = sn.tid()
    n = a[i]
    while True:
        n += 3
        if n > 10:
            found = n
            break
    out[i] = found


@sn.kernel
def sums(x: F, out: F):
    total = 0.0
    for j in range(len(x)):
        total += x[j]
    out[sn.tid()] = total


@sn.kernel
def ranges(a: N, out: N):
    i = sn.tid()
    r = 0
    for j in range(a[i], 9, 3):
        r = r * 3 + j
    for j in range(9, a[i], -2):
        r = r * 3 - j
    for j in range(5, -1, -1):
        r += j * a[i]
    out[i] = r


@sn.kernel
def step_at_run(a: N, b: N, out: N):
    i = sn.tid()
    r = 0
    step = 2 if b[i] == 0 else b[i]
    for j in range(a[i], a[i] + 3 * b[i] - 4, step):
        r = r * 7 + j
    out[i] = r


@sn.kernel
def range_ends(out: N):
    i = sn.tid()
    r = 0
    for j in range(2_147_483_640, 2_147_483_647, 5):
        r += j % 100
    for j in range(-2_147_483_640, -2_147_483_648, -7):
        r += j % 1000
    out[i] = r


@sn.kernel
def last_value(x: F, out: N):
    for j in range(3):
        j = j + 10
    for k in range(2):
        j -= k
    out[sn.tid()] = j * 100 + k


@sn.kernel
def loop_control(a: N, out: N):
    i = sn.tid()
    r = 0
    for j in range(20):
        if j % 3 == 0:
            continue
        if j > a[i] + 6:
            break
        for k in range(j):
            if k == 4:
                break
            r += k
    out[i] = r


@sn.kernel
def triangle(x: F, out: F):
    i = sn.tid()
    best = x[0]
    where = 0
    for j in range(1, len(x)):
        if x[j] > best:
            best = x[j]
            where = j
    out[i] = best * float(where) if i % 2 == 0 else best


@sn.kernel
def swap(x: F, y: F, out: F):
    i = sn.tid()
    a, b = x[i], y[i]
    if a > b:
        a, b = b, a
    c = d = a
    d += b
    out[i] = a - b * c + d


@sn.kernel
def swap_elements(x: F, out: F):
    i = sn.tid()
    out[i], x[i] = x[i], out[i]


@sn.kernel
def augmented(x: F, a: N, out: F):
    i = sn.tid()
    out[i] += x[i]
    out[i] *= 2.0
    out[i] -= 0.5
    out[i] /= 4.0
    a[i] //= 2
    a[i] %= 3
    a[i] <<= 2
    a[i] >>= 1
    a[i] |= 8
    a[i] &= 13
    a[i] ^= 1


@sn.kernel
def annotated(x: F, out: D):
    i = sn.tid()
    total: sn.float64 = 0.0
    n: int = 3
    for _ in range(n):
        total += sn.float64(x[i])
    out[i] = total


@sn.kernel
def calls(x: F, a: N, out: F):
    i = sn.tid()
    value = half(half(x[i])) + saturate(x[i], -1.0, 1.0) + scaled(x[i]) + scaled(factor=2.0, x=x[i])
    put(out, i, value + float(digits(a[i])))


@sn.kernel
def generic(x: F, y: D, a: N, out: D):
    i = sn.tid()
    s = saturate(a[i], 0, 3)
    out[i] = saturate(y[i], -0.1, 0.1) + sn.float64(saturate(x[i], -0.25, 0.25)) + sn.float64(s)


@sn.kernel
def builtins(x: F, y: F, out: F):
    i = sn.tid()
    out[i] = (
        sn.sqrt(abs(x[i])) + sn.min(x[i], y[i], 0.5) - sn.max(x[i], y[i]) + min(x[i], y[i]) * max(x[i], 0.0, y[i])
        + sn.floor(x[i]) + sn.ceil(y[i]) * sn.trunc(x[i]) - sn.rint(y[i]) + sn.abs(y[i])
    )  # fmt: skip


@sn.kernel
def library(x: F, y: F, a: N, out: F):
    i = sn.tid()
    out[i] = sn.clamp(x[i], -0.5, 0.5) + sn.sign(y[i]) + sn.lerp(x[i], y[i], 0.25) + float(sn.sign(a[i]))


@sn.kernel
def conversions(x: F, a: N, out: D, whole: N):
    i = sn.tid()
    out[i] = sn.float64(int(x[i])) + sn.float64(bool(a[i])) + sn.float64(sn.float32(a[i])) + sn.float64(x[i] > 0.0)
    whole[i] = sn.int32(sn.int64(a[i]) * 3) + sn.int32(x[i])


@sn.kernel
def bits(x: F, out: U):
    i = sn.tid()
    out[i] = sn.cast(x[i], sn.uint32) ^ sn.cast(sn.cast(out[i], sn.float32), sn.uint32)


@sn.kernel
def assertion(x: F, out: F):
    i = sn.tid()
    assert len(x) == len(out), "as many outputs as inputs"
    out[i] = x[i]


@sn.kernel
def spring(x: V3, v: V3, force: V3, k: float, c: float, dt: float, x_next: V3, v_next: V3):
    i = sn.tid()
    v_next[i] = v[i] + dt * (force[i] - k * x[i] - c * v[i]) / 1.5
    x_next[i] = x[i] + dt * v_next[i]


@sn.kernel
def vectors(p: V3, q: V3, s: F, out: V3):
    i = sn.tid()
    d = p[i] - q[i]
    out[i] = sn.normalize(d) * sn.dot(p[i], q[i]) + sn.cross(p[i], q[i]) / 2.0 - -d + sn.vec3(s[i], 1.0, 2.0)


@sn.kernel
def components(p: V3, s: F, out: V3):
    i = sn.tid()
    out[i].x = p[i].y + p[i][2]
    out[i][1] += s[i] * p[i].x
    out[i].z = sn.length(p[i]) + sn.length_sq(p[i])
    x, y, z = p[i]
    s[i] = x * y - z


@sn.kernel
def component_at_run(p: V4, out: V4):
    i = sn.tid()
    for k in range(4):
        out[i][k] = p[i][3 - k] * 2.0


@sn.kernel
def constructors(a: F, p: V2, q: V3D, out: V3D):
    i = sn.tid()
    v = sn.vec3d() + sn.vec3d(1.0) * 2.0 + sn.vec3d(sn.vec3(p[i].x, p[i].y, a[i]))
    out[i] = v + q[i] * 0.1


SAMPLES: dict[str, Kernel] = {name: thing for name, thing in list(globals().items()) if isinstance(thing, Kernel)}
