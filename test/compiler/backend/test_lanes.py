"""Threads in the lanes of vectors leave the same bits, and stop in the same way, as one by one."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import machine
import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.analysis.uniformity import ObstacleError
from sim_node.compiler.backend import host
from sim_node.compiler.backend.lanes import vectors
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.function import Function
from sim_node.compiler.passes.pipeline import optimise
from sim_node.lang.kernel import Kernel

BITS = (512, 256, 128)
COUNT = 150  # of threads: whole vectors and a rest, for each width

F, N, B = sn.array(dtype=float), sn.array(dtype=int), sn.array(dtype=bool)
H, V = sn.array(dtype=sn.float16), sn.array(dtype=sn.vec3)


@sn.kernel
def branches(x: F, a: N, y: F):
    i = sn.tid()
    s = x[i]
    if a[i] > 0:
        s = s * 2.0
        if a[i] > 4:
            y[i] = s - 1.0
            return
        s += 1.0
    elif s > 0.5:
        s = sn.sqrt(s)
    y[i] = s


@sn.kernel
def either(x: F, a: N, y: F, n: int):
    """Whether a thread is asked is the same for all."""
    i = sn.tid()
    if n > 3 or (n > 0 and a[i] > 1):
        y[i] = x[i]
    elif a[i] < 0 and (n < 0 or x[i] > 0.5):
        y[i] -= x[i]


@sn.kernel
def loops(x: F, y: F, n: int):
    i = sn.tid()
    s = 0.0
    for k in range(n):
        if x[i] > float(k):
            s += x[k] * x[i]
    y[i] = s


@sn.kernel
def quotients(a: N, n: int, b: N):
    i = sn.tid()
    s = 0
    if a[i] > 2:
        s = 1000 // a[i] + a[i] % 7
    if n > 0:
        s += a[i] // n
    b[i] = s


@sn.kernel
def extremes(x: F, y: F):
    i = sn.tid()
    y[i] = sn.min(sn.max(x[i], -1.0), 0.0 - x[i]) + float(int(x[i] * 1e9))


@sn.kernel
def narrow(h: H, c: B, b: sn.array(dtype=sn.int8), g: H):
    i = sn.tid()
    c[i] = c[i] != (h[i] > sn.float16(0.5))
    b[i] = b[i] * sn.int8(3) + sn.int8(i)
    g[i] = h[i] * sn.float16(1.5)


@sn.kernel
def vectors_of_three(p: V, v: V, m: sn.array(dtype=sn.mat22), y: F):
    i = sn.tid()
    v[i] = v[i] + p[i] * 0.5
    p[i] = sn.cross(p[i], v[i])
    y[i] = m[i][1, 0]


@sn.kernel
def reached(x: F, a: N, y: F):
    i = sn.tid()
    y[i] = x[a[i]] + x[len(x) - 1 - i]


@sn.kernel
def table(x: sn.array(dtype=float, ndim=2), y: sn.array(dtype=float, ndim=2)):
    i, j = sn.tid()
    y[i, j] = x[i, j] - x[i, 0] + float(j)


@sn.kernel
def sliced(x: sn.array(dtype=float, ndim=3), y: sn.array(dtype=float, ndim=2), z: F):
    """Whether what a slice of all leads to is there is known to a launch, so it is for lanes after a store."""
    i, j, k = sn.tid()
    n = (i * 5 + j) * 4 + k
    z[n] = x[i, j, k]
    y[:, ::-1][n, 0] = z[n]


@sn.kernel
def last(x: F, y: F):
    i = sn.tid()
    y[0] = x[i]


def optimised(kernel: Kernel) -> Function:
    return optimise(lower(kernel)).entry


def same(kernel: Kernel, dims: tuple[int, ...], args: list[Any], bits: int) -> machine.Stop:
    """Run threads in lanes and one by one; where these end as they should, in the same way."""
    function = optimised(kernel)
    assert host.form(function, bits).wide
    kinds, total = [param.type for param in function.params], int(np.prod(dims))
    ends = []
    for text, level in ((host.module(function), 0), (host.module(function, bits), 3)):
        given = copy.deepcopy(args)
        code = machine.Code(kinds, text, level)
        block = machine.argument_block(kinds, given, dims)
        stop = machine.run(code.code.symbols[host.SYMBOL], total, block)
        ends.append((stop, [np.asarray(arg).tobytes() for arg in given]))
    assert ends[0] == ends[1]
    return ends[0][0]


def numbers(kind: Any, *shape: int) -> Any:
    random = np.random.default_rng(len(shape))
    values = random.integers(-3, 9, shape) / 2 if np.dtype(kind).kind == "f" else random.integers(-3, 9, shape)
    values = values.astype(kind)
    if values.dtype.kind == "f":
        values.reshape(-1)[::7], values.reshape(-1)[3::11] = np.nan, -0.0
    return values


def f(*shape: int) -> Any:
    return numbers(np.float32, *shape)


def n(*shape: int) -> Any:
    return numbers(np.int32, *shape)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("count", [1, 7, COUNT])
def test_the_same_bits(count, bits):
    m = count
    for kernel, args in (
        (branches, [f(m), n(m), f(m)]),
        *((either, [f(m), n(m), f(m), at]) for at in (5, 2, 0, -2)),
        (loops, [f(m), f(m), min(m, 5)]),
        (quotients, [n(m), 3, n(m)]),
        (quotients, [n(m), 0, n(m)]),
        (extremes, [f(m), f(m)]),
        (narrow, [numbers(np.float16, m), numbers(bool, m), numbers(np.int8, m), numbers(np.float16, m)]),
        (vectors_of_three, [f(m, 3), f(m, 3), f(m, 2, 2), f(m)]),
        (reached, [f(m), np.arange(m)[::-1].astype(np.int32), f(m)]),
        (last, [f(m), f(1)]),
    ):
        assert same(kernel, (m,), args, bits).code == 0, kernel.name


@pytest.mark.parametrize("bits", BITS)
def test_rows_are_run_one_after_the_other(bits):
    for dims in ((3, 5), (5, 3), (2, 70)):
        assert same(table, dims, [f(*dims), f(*dims)], bits).code == 0
    assert same(sliced, (3, 5, 4), [f(3, 5, 4), f(60, 2), f(60)], bits).code == 0


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("thread", [0, 13, 67, COUNT - 1])
def test_a_check_that_fails_in_one_lane(thread, bits):
    at = np.arange(COUNT).astype(np.int32)
    at[thread], at[-1] = -5, COUNT
    stop = same(reached, (COUNT,), [f(COUNT), at, f(COUNT)], bits)
    assert (stop.thread, stop.index) == (thread, COUNT if thread == COUNT - 1 else -5)
    stop = same(branches, (COUNT,), [f(COUNT), n(COUNT), f(thread)], bits)
    assert stop.thread >= thread  # those before it ran


@sn.kernel
def short(x: F, a: N, y: F):
    i = sn.tid()
    y[a[i]] = x[i] + 1.0


@pytest.mark.parametrize("bits", BITS)
def test_full_vectors_of_short_kernels_have_a_loop_without_masks(bits):
    """What they leave is for the masked vector behind them, and a check that fails in either for single threads."""
    wide = host.form(optimised(short), bits).wide
    assert [loop.flat.here is None for loop in wide] == ([True, False] if bits == 512 else [True])
    for count in (*range(1, 67), 127, 128, 129, 200):
        assert same(short, (count,), [f(200), np.arange(200, dtype=np.int32)[::-1].copy(), f(200)], bits).code == 0
    for thread in (3, 70, 128, 140):
        at = np.arange(150, dtype=np.int32)
        at[thread] = 150
        assert same(short, (150,), [f(150), at, f(150)], bits).thread == thread


@sn.kernel
def compared(x: F, h: H, b: sn.array(dtype=sn.int8), c: B, a: N, n: int, y: F):
    i = sn.tid()
    assert h[i] < sn.float16(100.0)
    assert b[i] >= sn.int8(-3), "b"
    if a[i] > 0:
        assert c[i] == (a[i] < 100)
        sn.expect_near(x[i] * 2.0, x[i], 50.0)
    assert i + 2 < n
    y[i] = x[i]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("thread", [0, 13, 67, COUNT - 1])
def test_a_comparison_that_fails_in_one_lane_tells_what_that_lane_compared(thread, bits):
    def end(at: int, wrong: Any, later: Any, n: int = COUNT + 2) -> machine.Stop:
        args = [
            *(np.ones(COUNT, kind) for kind in (np.float32, np.float16, np.int8, bool)),
            np.arange(COUNT, dtype=np.int32) % 2 * 4,
            n,
            f(COUNT),
        ]
        args[4][thread] = 1
        args[at][thread], args[at][thread + 1 :] = wrong, later
        return same(compared, (COUNT,), args, bits)

    def word(number: float) -> int:
        return int(np.float64(number).view(np.int64))

    assert end(0, 1.0, 2.0).code == 0
    for at, wrong, later, left, right in (
        (0, 60.0, 70.0, word(120.0), word(60.0)),
        (1, 100.5, 200.0, word(100.5), word(100.0)),
        (1, np.nan, 200.0, word(np.nan), word(100.0)),
        (2, -128, -9, -128, -3),
        (3, False, False, 0, 1),
    ):
        stop = end(at, wrong, later)
        assert (stop.thread, stop.index, stop.length) == (thread, left, right)
    stop = end(0, 1.0, 2.0, thread + 2)
    assert (stop.thread, stop.index, stop.length) == (thread, thread + 2, thread + 2)


@sn.kernel
def atomic(a: N):
    sn.atomic_add(a, 0, sn.tid())


@sn.kernel
def checked_late(a: N, b: N):
    i = sn.tid()
    a[i] = 3
    b[a[i]] = 4


@sn.kernel
def the_same(a: N):
    a[0] = 1


@sn.kernel
def nothing(a: N):
    i = sn.tid()
    assert a[i] > i


@sn.kernel
def endless(a: N):
    i = sn.tid()
    while a[i] > 3:
        a[i] = a[i] // 2


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (atomic, "an atomic operation is one thread's at a time"),
        (checked_late, "a check comes after something was stored"),
        (the_same, "all threads do the same"),
        (nothing, "nothing is stored"),
        (endless, "as long as it needs"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_why_threads_run_one_by_one(kernel, why):
    with pytest.raises(ObstacleError, match=why):
        vectors(optimised(kernel), 512, partial=True)
    how = host.form(optimised(kernel), 512)
    assert how.wide == ()
    assert why in how.why
    assert "lanes" not in host.module(optimised(kernel), 512)


def test_small_bodies_have_more_lanes():
    assert vectors(optimised(last), 512, partial=True).lanes == 64
    assert vectors(optimised(last), 128, partial=False).lanes == 16


def test_a_block_may_have_any_name():
    """Those of funcs inside of funcs grow without a limit, and LLVM takes 1024 letters."""
    function = optimise(lower(loops)).entry
    longer = {block.label: block.label + "_after" * 300 for block in function.blocks}
    renamed = replace(
        function,
        blocks=tuple(
            block._replace(
                label=longer[block.label],
                edges=tuple(edge._replace(target=longer[edge.target]) for edge in block.edges),
            )
            for block in function.blocks
        ),
    )
    code = machine.Code([param.type for param in renamed.params], host.module(renamed, 512))
    assert code.wide
    x, y = np.arange(COUNT, dtype=np.float32), np.zeros(COUNT, np.float32)
    assert code.run(COUNT, x, y, np.int32(2)).code == 0
    assert y.tolist() == [0.0, 0.0, *(float(i) for i in range(2, COUNT))]
