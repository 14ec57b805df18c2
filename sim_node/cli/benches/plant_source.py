"""Source of kernels as plants have them, the same on every call, to compile: for us, for Warp, numba and numba-cuda.

Each is 150 statements on a few state variables: arithmetic, vectors, reads and writes of arrays, and one in ten a
branch or a loop with two statements of its own. Ours and Warp's texts differ in the module's name only; numba has no
vectors, so tuples and functions of them stand there.
"""

from __future__ import annotations

from random import Random

STATEMENTS = 150

_HEADS = {name: f"import {name} as m\n" for name in ("sim_node", "warp")}
_HEADS["numba"] = """import math as m
import numba
from numba import float32

@numba.njit(cache=True)
def add(x, y):
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]

@numba.njit(cache=True)
def scale(x, y):
    return x[0] * y, x[1] * y, x[2] * y

@numba.njit(cache=True)
def dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]

@numba.njit(cache=True)
def cross(x, y):
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]
"""
_SIGNATURE = """
@m.kernel
def plant_{index}(pos: m.array(dtype=m.vec3), vel: m.array(dtype=m.vec3), q: m.array(dtype=float),
        dq: m.array(dtype=float), gain: m.array(dtype=float), out: m.array(dtype=float), dt: float):
"""
_NUMBA_SIGNATURE = """
@numba.njit(numba.void(float32[:, :], float32[:, :], *[float32[:]] * 4, float32), cache=True)
def plant_{index}(pos, vel, q, dq, gain, out, dt):
"""
# the statements that numba spells in another way
_NUMBA = {
    "i = m.tid()": "for i in range(q.shape[0]):",
    "u = pos[i]": "u = pos[i, 0], pos[i, 1], pos[i, 2]",
    "v = vel[i]": "v = vel[i, 0], vel[i, 1], vel[i, 2]",
    "pos[i] = u": "pos[i, 0], pos[i, 1], pos[i, 2] = u",
    "vel[i] = v": "vel[i, 0], vel[i, 1], vel[i, 2] = v",
    "out[i] = c + d + e + m.dot(w, w)": "out[i] = c + d + e + dot(w, w)",
}
# what numba's text becomes for GPUs, where a thread takes every so many-th element
_NUMBA_CUDA = {
    "from numba import float32": "from numba import cuda, float32",
    "@numba.njit(cache=True)": "@cuda.jit(device=True)",
    "@numba.njit(numba.void": "@cuda.jit(numba.void",
    "range(q.shape[0])": "range(cuda.grid(1), q.shape[0], cuda.gridsize(1))",
}
_FIRST = [
    "i = m.tid()",
    "a = q[i]",
    "b = dq[i]",
    "c = 0.5",
    "d = 1.0",
    "e = a - b",
    "u = pos[i]",
    "v = vel[i]",
    "w = u",
]
_LAST = ["q[i] = a", "dq[i] = b", "pos[i] = u", "vel[i] = v", "out[i] = c + d + e + m.dot(w, w)"]


def source(dialect: str, kernels: int, statements: int = STATEMENTS, changed: int | None = None) -> str:
    """Write a module of kernels ``plant_0 …``; ``changed`` numbers one that gets another constant than before."""
    numba = dialect.startswith("numba")
    text = _HEADS["numba" if numba else dialect]
    for index in range(kernels):
        random = Random(index)
        left, lines = statements - len(_FIRST) - len(_LAST), list(_FIRST)
        while left > 0:
            count, more = _statements(random, left, numba)
            left, lines = left - count, lines + more
        lines += _LAST
        if index == changed:
            lines[lines.index("c = 0.5")] = "c = 0.625"
        if numba:
            first, *rest = (_NUMBA.get(line, line) for line in lines)
            lines = [first, *(f"    {line}" for line in rest)]
        text += (_NUMBA_SIGNATURE if numba else _SIGNATURE).format(index=index)
        text += "".join(f"    {line}\n" for line in lines)
    for ours, theirs in _NUMBA_CUDA.items() if dialect == "numba_cuda" else ():
        text = text.replace(ours, theirs)
    return text


def _statements(random: Random, left: int, numba: bool) -> tuple[int, list[str]]:
    """Give a statement's lines, and how many statements they are."""
    if left < 4 or random.random() > 0.1:
        return 1, [random.choice((_scalar, _scalar, _scalar, _vector, _array))(random, numba)]
    first, second = (f"    {_scalar(random, numba)}" for _ in range(2))
    x, y, number = _state(random), _state(random), _number(random)
    forms = (
        (3, [f"if {x} > {number}:", first, "else:", second]),
        (3, [f"if {x} < {y} and d > {number}:", first, second]),
        (3, [f"for k in range({random.randint(3, 6)}):", first, f"    {y} += gain[k] * dt"]),
    )
    return random.choice(forms)


def _scalar(random: Random, _numba: bool) -> str:
    x, y, z, n = _state(random), _state(random), _state(random), _number(random)
    forms = (
        f"{x} = {y} * {n} + {z} * dt",
        f"{x} = ({y} - {z}) * {n} - {x} * dt",
        f"{x} += ({y} * {y} + {n}) * dt",
        f"{x} = min(max({y}, -{n}), {z} + {n})",
        f"{x} = {y} / ({z} * {z} + {n})",
        f"{x} = m.sqrt({y} * {y} + {n})",
        f"{x} = abs({y}) - {n} * {z}",
    )
    return random.choice(forms)


def _vector(random: Random, numba: bool) -> str:
    x, y, z, s = (random.choice(names) for names in ("uvw", "uvw", "uvw", "abcde"))
    forms = (
        (f"{x} = {y} + {z} * dt", f"{x} = add({y}, scale({z}, dt))"),
        (f"{x} = {y} * {s} + {z}", f"{x} = add(scale({y}, {s}), {z})"),
        (f"{x} = m.cross({y}, {z})", f"{x} = cross({y}, {z})"),
        (f"{s} = m.dot({y}, {z}) * dt", f"{s} = dot({y}, {z}) * dt"),
        (f"{x} = m.vec3({s}, {y}[1], {z}[2])", f"{x} = {s}, {y}[1], {z}[2]"),
        (f"{s} = {y}[0] - {z}[1]",) * 2,
    )
    return random.choice(forms)[numba]


def _array(random: Random, _numba: bool) -> str:
    x, y, k = _state(random), _state(random), random.randint(0, 7)
    return random.choice((f"{x} = q[i] * {y}", f"{x} = gain[{k}] - {y}", f"dq[i] = {x} * dt", f"out[i] = {x} + {y}"))


def _state(random: Random) -> str:
    return random.choice("abcde")


def _number(random: Random) -> str:
    return f"{random.randint(1, 64) / 16}"
