"""One suite for every device: what a launch leaves, prints and tells is the same, bit for bit, wherever it ran."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from devices import COMPILED, on

import sim_node as sn
from sim_node.dtypes import ArrayType
from sim_node.errors import KernelError, LaunchError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.runtime.cell import Cell
from sim_node.runtime.plan import Plan

COMPILER = Path(__file__).resolve().parent.parent / "compiler"


def _samples():
    """The kernels that the tests of the compiler share; they lie where those do."""
    spec = importlib.util.spec_from_file_location("samples", COMPILER / "samples.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("samples", module)
    spec.loader.exec_module(module)
    return module


samples = _samples()


def left(kernel, given, device, dim):
    """What a launch leaves in its arrays, as bytes; numpy arrays are copied to the device first."""
    kinds = [samples._annotation(kernel, name) for name in kernel.function.__annotations__]
    arrays = [
        sn.array(one, dtype=kind.dtype, device=device, copy=True) if isinstance(kind, ArrayType) else one
        for one, kind in zip(given, kinds, strict=True)
    ]
    sn.launch(kernel, dim, arrays, device=device)
    return [one.numpy().tobytes() for one in arrays if isinstance(one, sn.array)]


@COMPILED
@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_form_of_the_language(name, device):
    kernel = samples.SAMPLES[name]
    if name in {"swap_elements"}:
        pytest.skip("its threads read what others write")
    for seed in range(3):
        given = samples.arguments(kernel, seed)
        assert left(kernel, given, device, samples.LENGTH) == left(kernel, given, "cpu", samples.LENGTH)


F32, F64 = sn.array(dtype=sn.float32), sn.array(dtype=sn.float64)


@sn.kernel
def functions(x: F32, y: F32, out: sn.array(dtype=sn.float32, ndim=2)):
    i = sn.tid()
    a, b = x[i], y[i]
    out[i, 0] = sn.sin(a)
    out[i, 1] = sn.cos(a)
    out[i, 2] = sn.tan(a)
    out[i, 3] = sn.exp(a)
    out[i, 4] = sn.log(a)
    out[i, 5] = sn.asin(a)
    out[i, 6] = sn.atan(a)
    out[i, 7] = sn.sinh(a)
    out[i, 8] = sn.tanh(a)
    out[i, 9] = sn.cbrt(a)
    out[i, 10] = sn.pow(a, b)
    out[i, 11] = sn.atan2(a, b)
    out[i, 12] = a % b
    out[i, 13] = a // b
    out[i, 14] = sn.erf(a)
    out[i, 15] = sn.sqrt(a) / b


@sn.kernel
def doubles(x: F64, y: F64, out: sn.array(dtype=sn.float64, ndim=2)):
    i = sn.tid()
    a, b = x[i], y[i]
    out[i, 0] = sn.sin(a)
    out[i, 1] = sn.exp(a)
    out[i, 2] = sn.log(a)
    out[i, 3] = sn.pow(a, b)
    out[i, 4] = sn.atan2(a, b)
    out[i, 5] = a % b
    out[i, 6] = sn.tanh(a)
    out[i, 7] = sn.sqrt(a) / b


@COMPILED
@pytest.mark.parametrize(("kernel", "bits", "columns"), [(functions, np.uint32, 16), (doubles, np.uint64, 8)])
def test_functions_of_any_bits(kernel, bits, columns, device):
    random, count = np.random.default_rng(3), 200_000
    floats = {np.uint32: np.float32, np.uint64: np.float64}[bits]
    x, y = (random.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(floats) for _ in range(2))
    x[: count // 2] = random.normal(0, 30, count // 2)
    found = []
    for place in ("cpu", device):
        out = sn.zeros((count, columns), floats, device=place)
        sn.launch(kernel, count, [sn.array(x, device=place), sn.array(y, device=place)], [out], device=place)
        found.append(out.numpy().view(bits))
    same = found[0] == found[1]
    assert same.all(), (np.argwhere(~same)[:5], x[np.argwhere(~same)[:5, 0]])


@sn.kernel
def drawn(seed: int, out: sn.array(dtype=sn.vec3)):
    i = sn.tid()
    state = sn.rand_init(seed, i)
    out[i] = sn.vec3(sn.randf(state), sn.randn(state), sn.noise(state, sn.randf(state, 0.0, 9.0)))


@sn.kernel
def counted(x: sn.array(dtype=int), sums: sn.array(dtype=int), most: sn.array(dtype=sn.int64)):
    i = sn.tid()
    sn.atomic_add(sums, x[i] % 7, x[i])
    sn.atomic_max(most, 0, sn.int64(x[i]))


@COMPILED
def test_random_numbers_and_atomics(device):
    x, found = np.random.default_rng(5).integers(-1000, 1000, 100_000).astype(np.int32), []
    for place in ("cpu", device):
        out, sums = sn.zeros(5000, sn.vec3, device=place), sn.zeros(7, int, device=place)
        most = sn.zeros(1, sn.int64, device=place)
        sn.launch(drawn, 5000, [42], [out], device=place)
        sn.launch(counted, len(x), [sn.array(x, device=place)], [sums, most], device=place)
        found.append((out.numpy().tobytes(), sums.numpy().tolist(), most.numpy().tolist()))
    assert found[0] == found[1]


@sn.kernel
def atomics(x: sn.array(dtype=sn.uint32), out: sn.array2d[sn.uint32], floats: F32, taken: sn.array(dtype=int)):
    i = sn.tid()
    key = i % 5
    sn.atomic_sub(out, 0, key, x[i])
    sn.atomic_min(out, 1, key, x[i])
    sn.atomic_and(out, 2, key, x[i] | sn.uint32(255))
    sn.atomic_or(out, 3, key, x[i] & (x[i] >> sn.uint32(9)))
    sn.atomic_xor(out, 4, key, x[i])
    sn.atomic_max(floats, key, sn.cast(x[i], sn.float32))
    sn.atomic_min(floats, key + 5, sn.cast(x[i], sn.float32))
    sn.atomic_exch(taken, i, key)
    sn.atomic_cas(taken, i, 3, -7)


@COMPILED
@pytest.mark.parametrize("count", [1, 33, 100_000])
def test_atomics_in_any_order(count, device):
    x, found = np.random.default_rng(8).integers(0, 2**32, count, np.uint32), []
    for place in ("cpu", device):
        out, floats = (sn.full(shape, 1, kind, device=place) for shape, kind in (((5, 5), sn.uint32), (10, sn.float32)))
        taken = sn.zeros(count, int, device=place)
        sn.launch(atomics, count, [sn.array(x, device=place)], [out, floats, taken], device=place)
        found.append([one.numpy().tobytes() for one in (out, floats, taken)])
    assert found[0] == found[1]


SIZES = [(kind, count) for kind in (np.float32, np.float64, np.int32, np.uint64) for count in (1, 2, 31, 32, 33, 1000)]


@COMPILED
@pytest.mark.parametrize(("kind", "count"), [*SIZES, (np.float32, 1_000_001), (np.uint64, 1_000_001)])
def test_sums_scans_and_sorts(kind, count, device):
    random, found = np.random.default_rng(6), []
    x = (random.normal(0, 1e3, count) if kind in (np.float32, np.float64) else random.integers(0, 2**31, count)).astype(
        kind
    )
    x[:: max(count // 7, 2)] = x[0]  # equal keys, whose order stays
    for place in ("cpu", device):
        given = sn.array(x, device=place)
        scanned, before = (sn.zeros_like(given) for _ in range(2))
        keys, order = (
            sn.array(one, device=place) for one in (np.concatenate([x, x]), np.arange(2 * count, dtype=np.int32))
        )
        sn.utils.array_scan(given, scanned)
        sn.utils.array_scan(given, before, inclusive=False)
        sn.utils.radix_sort_pairs(keys, order, count)
        sums = [kind(total).tobytes() for total in (sn.utils.array_sum(given), sn.utils.array_inner(given, given))]
        found.append([*sums, *(one.numpy()[:count].tobytes() for one in (scanned, before, keys, order))])
    assert found[0] == found[1]


@COMPILED
@pytest.mark.parametrize("count", [1, 33, 1000])
def test_sums_of_rows_sorts_of_segments_and_runs(count, device):
    random, found = np.random.default_rng(7), []
    x, ends = random.normal(0, 1, (5, count)).astype(np.float32), np.array([0, count // 3, count], np.int32)
    ranks = random.integers(0, 3, count).astype(np.int32)
    for place in ("cpu", device):
        rows = sn.array(x, dtype=float, device=place)
        keys, values = (sn.array(np.concatenate([one, one]), device=place) for one in (x[0], ranks))
        sn.utils.segmented_sort_pairs(keys, values, count, sn.array(ends, device=place))
        runs, lengths, number = (sn.zeros(n, int, device=place) for n in (count, count, 1))
        sn.utils.runlength_encode(sn.array(ranks, device=place), runs, lengths, run_count=number)
        sums = [sn.utils.array_sum(rows, axis=axis) for axis in (0, 1)]
        told = [keys[:count], values[:count], runs, lengths, number, *sums]
        found.append([one.numpy().tobytes() for one in told])
    assert found[0] == found[1]


@sn.kernel
def outside(x: F32, ahead: int, out: F32):
    i = sn.tid()
    out[i] = x[i + ahead]


@COMPILED
def test_the_first_thread_outside_is_told_and_the_next_launch_runs(device):
    x, out = (on(device, np.arange(1000, dtype=np.float32)) for _ in range(2))
    for _ in range(3):
        with pytest.raises(KernelError, match="index 1000 is outside array 'x' of length 1000") as caught:
            sn.launch(outside, 1000, [x, 100], [out], device=device)
        assert caught.value.thread == 900
        sn.launch(outside, 900, [x, 100], [out], device=device)
        assert np.asarray(out.numpy() if device.is_cuda else out)[899] == 999


@sn.kernel
def shout(x: F32, ahead: int):
    i = sn.tid()
    print("thread", i)
    print(x[i + ahead])


@COMPILED
def test_prints_come_in_the_order_of_threads_and_end_where_a_thread_stops(device, capsys):
    x = on(device, np.arange(300, dtype=np.float32))
    with pytest.raises(KernelError):
        sn.launch(shout, 300, [x, 100], device=device)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [line for i in range(200) for line in (f"thread {i}", str(i + 100))] + ["thread 200"]


@COMPILED
def test_a_plan(device, capsys):
    wanted = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    x, y = (sn.array(one, device=device, copy=True) for one in wanted)
    plan = Plan(device)
    for _ in range(3):
        plan.launch(outside, 60, [x, 4], [y])
        plan.launch(outside, 56, [y, 4], [x])
    plan.launch(shout, 2, [x, 0])
    plan.freeze()
    for _ in range(6):
        wanted[1][:60] = wanted[0][4:]
        wanted[0][:56] = wanted[1][4:60]
    for first in (24, 48):
        plan.run()
        assert capsys.readouterr().out == f"thread 0\n{first}\nthread 1\n{first + 1}\n"
    assert [one.numpy().tolist() for one in (x, y)] == [one.tolist() for one in wanted]


@COMPILED
def test_a_plan_that_fails_tells_the_first_launch_and_runs_again(device):
    x, y = (sn.array(np.arange(9, dtype=np.float32), device=device) for _ in range(2))
    plan, cell = Plan(device), Cell(sn.float32, 9)
    plan.launch(outside, 5, [cell, 4], [y])
    plan.launch(outside, 9, [cell, 4], [y])
    plan.launch(outside, 9, [cell, 5], [y])
    plan.freeze()
    plan.point(cell, x)
    for _ in range(2):
        with pytest.raises(KernelError, match="index 9 is outside array 'x' of length 9") as caught:
            plan.run()
        assert caught.value.thread == 5


@COMPILED
def test_an_array_elsewhere_is_refused(device):
    if not device.is_cuda:
        pytest.skip("tells a GPU's memory from the CPU's")
    here, there = sn.zeros(4), sn.zeros(4, device=device)
    for x, out, where in ((here, there, device), (there, here, device), (there, there, "cpu")):
        with pytest.raises(LaunchError, match="memory of another device"):
            sn.launch(outside, 2, [x, 0], [out], device=where)
    with pytest.raises(LaunchError, match="memory of another device"):
        sn.launch(outside, 2, [np.zeros(4, np.float32), 0], [there], device=device)


@COMPILED
@pytest.mark.parametrize("corners", [1, 3, 31, 33])
def test_a_plant_has_the_same_state_after_ticks_and_resets(corners, device):
    recorded = []
    for place in ("cpu", device):
        stepper = Stepper(QuarterCar(corners=corners), dt_ns=1_000_000, substeps=3, seed=7, device=place)
        for round_ in range(2):
            stepper.set("force", np.resize([20.0, -3.0, 7.0 + round_], corners).tolist())
            stepper.tick(50)
            recorded.append((stepper.keyframe().state, stepper.hashes().tolist()))
            stepper.reset()
        assert stepper.copies_per_tick == 0
    assert recorded[:2] == recorded[2:]
