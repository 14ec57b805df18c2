"""Every sample of the language runs under CPython with the bits and the stops of machine code."""

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim_node as sn

# samples.py and machine.py; import-mode is importlib, which puts no folder on the path
sys.path.insert(0, str(Path(__file__).parent.parent))

from samples import LENGTH, SAMPLES, arguments

from sim_node.compiler import build as compiled
from sim_node.compiler.python.build import build
from sim_node.errors import BuildError, KernelError
from sim_node.lang.kernel import Kernel


def outcome(kernel: Kernel, dim: int, args: list[Any], device: str) -> tuple[str, list[bytes]]:
    """What a launch raises, but for the line that launches, and what it leaves in its arguments."""
    given = copy.deepcopy(args)
    try:
        sn.launch(kernel, dim, inputs=given, device=device)
        told = ""
    except KernelError as error:
        told = str(error)[: str(error).rindex("launched")]
    return told, [np.asarray(arg).tobytes() for arg in given]


@pytest.mark.parametrize("kernel", SAMPLES.values(), ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("dim", [LENGTH, LENGTH + 2])
def test_samples_give_the_same_bits_and_stops(kernel: Kernel, dim: int) -> None:
    for seed in range(3):
        args = arguments(kernel, seed)
        assert outcome(kernel, dim, args, "python") == outcome(kernel, dim, args, "cpu")


@pytest.mark.parametrize("kernel", [*SAMPLES.values()][:3], ids=lambda kernel: kernel.name)
def test_the_program_is_the_compiled_one_but_for_its_code(kernel: Kernel) -> None:
    ours, theirs = build(kernel), compiled.build(kernel)
    for part in ("name", "params", "sites", "digest", "written", "dims"):
        assert getattr(ours, part) == getattr(theirs, part)


@sn.kernel
def mixing(x: sn.array(dtype=float), n: int):
    x[sn.tid()] = n


def test_what_the_compiler_refuses_is_refused() -> None:
    with pytest.raises(BuildError, match="is f32, not i32"):
        sn.launch(mixing, 1, inputs=[np.zeros(1, np.float32), 1], device="python")


@sn.kernel
def doubling(x: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = x[i] + x[i]


def test_arrays_are_taken_wherever_they_lie() -> None:
    for device in ("cpu", "python"):
        numbers = np.ones(8, np.float32)
        sn.launch(doubling, 4, inputs=[numbers[::2]], device=device)
        sn.launch(doubling, 2, inputs=[sn.array(numbers, copy=False)[[0, 3]]], device=device)
        assert numbers.tolist() == [4.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 1.0]


@sn.kernel
def rows(x: sn.array(dtype=sn.vec2, ndim=2), n: sn.array(dtype=int)):
    i, j = sn.tid()
    row = x[i]
    row[j].x += float(len(row)) + x[i, -1].y
    if j == 0 and x:
        n[i] = x.shape[0] * 10 + x.shape[1] + int(x.ptr == x[0].ptr)


def test_indexed_arrays_of_two_dimensions() -> None:
    made = []
    for device in ("cpu", "python"):
        x, n = np.arange(40, dtype=np.float32).reshape(4, 5, 2), np.zeros(3, np.int32)
        for lists, dim in (([[3, 0, 1], [4, 2]], (3, 2)), ([[2, 0], None], (2, 5)), ([None, [1]], (3, 1))):
            lists = [its if its is None else sn.array(its, dtype=int) for its in lists]
            sn.launch(
                rows, dim, inputs=[sn.indexedarray(sn.array(x, dtype=sn.vec2, copy=False), lists), n], device=device
            )
        one = sn.indexedarray(sn.array(x, dtype=sn.vec2, copy=False), [None, sn.array([1], dtype=int)])
        with pytest.raises(KernelError, match="index 1 is outside array 'row' of length 1"):
            sn.launch(rows, (1, 2), inputs=[one, n], device=device)
        made.append((x.tobytes(), n.tolist()))
    assert made[0] == made[1]


@sn.func
def both(a: int, b: float) -> tuple[int, float]:
    return a + 1, b * 3.0


@sn.func
def total(values: tuple[int, int, int], scale=2):
    sum = 0
    for value in values:
        sum += value * scale
    return sum, (values[0], 0.1)


@sn.kernel
def tuples(n: sn.array(dtype=int), x: sn.array(dtype=float)):
    i = sn.tid()
    t = 2147483647, 0.1
    u = both(t[0], t[1])
    s, (first, tenth) = total((u[0], n[i], 3))
    n[i] = s + first
    x[i] = u[1] + tenth
    for k in range(4):
        if n[i] & 1 and k in (1, 3):
            break
        if k in range(0, 9, 2):
            x[i] *= 1.5
    else:
        x[i] += 1.0


def test_tuples_have_the_same_bits():
    made = []
    for device in ("cpu", "python"):
        n, x = np.arange(4, dtype=np.int32), np.zeros(4, np.float32)
        sn.launch(tuples, 4, inputs=[n, x], device=device)
        made.append((n.tolist(), x.tobytes()))
    assert made[0] == made[1]


def test_guards_are_refused():
    guarded = sn.kernel(guards="clamp")(doubling.function)
    with pytest.raises(BuildError, match="the device python runs what is written"):
        build(guarded)
