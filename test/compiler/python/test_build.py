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


def test_strided_arrays_are_taken_and_indexed_ones_refused() -> None:
    numbers = np.ones(8, np.float32)
    sn.launch(doubling, 4, inputs=[numbers[::2]], device="python")
    assert numbers.tolist() == [2.0, 1.0] * 4
    with pytest.raises(BuildError, match="'x' of kernel 'doubling' is an indexed array"):
        sn.launch(doubling, 2, inputs=[sn.array(numbers)[[0, 3]]], device="python")


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
