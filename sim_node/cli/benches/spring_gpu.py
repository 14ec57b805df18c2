"""How fast a memory-bound kernel runs on a GPU: a damped spring a thread, bounds checked, beside the GPU's own copy.

Each contender makes ``STEPS`` steps in the way in which it is fastest and then waits for the GPU once: ours a plan,
Warp a recorded launch, numba-cuda a configured kernel, CuPy one fused elementwise kernel. The clock is the host's, so
that nobody's events or streams are trusted; what the host does for a launch hides behind the GPU's work on the step
before where there is enough of that, which is so of 16 M and 64 M. Figures of 1 M, 16 MB, which the GPU's cache holds,
are in good part of launching. A copy moves as many bytes as a step, read and written, by cuMemcpyDtoDAsync.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

import sim_node as sn
from sim_node.cli.benches import oscillator
from sim_node.cli.benches.measurement import Measurement, alternated_us, cost_percent
from sim_node.cli.benches.peers import started
from sim_node.cli.benches.unchecked import unchecked
from sim_node.device.cuda import Cuda
from sim_node.device.driver import call

ELEMENTS = {"1M": 1 << 20, "16M": 1 << 24, "64M": 1 << 26}
STEPS = 20
_BYTES = 16  # a spring reads and writes two float32
_BLOCK = 256
_ROUNDS = {"1M": 200, "16M": 60, "64M": 30}

Values = np.ndarray[Any, Any]


class Springs(NamedTuple):
    """A contender's springs: what steps them ``STEPS`` times and waits, and what reads positions and velocities."""

    steps: Callable[[], object]
    read: Callable[[], list[Values]]


Make = Callable[[Values, Values], Springs]


def run(gpu: Cuda) -> Measurement:
    """Measure steps of 1 M, 16 M and 64 M springs, each contender in turn; medians in GB/s, ratios those of 64 M.

    ``to_copy`` is our speed by the copy's, and ``checks_cost_percent`` what a step takes longer than without a check.
    ``same_bits`` says whether springs stand bit for bit where ours do on this GPU: a peer's, and ours on the CPU.
    """
    result = Measurement("spring", {"steps": STEPS}, device=gpu)
    peers = {"warp": _warp, "numba_cuda": _numba_cuda, "cupy": _cupy}
    makers: dict[str, Make] = {"ours": partial(_ours, gpu)}
    makers |= started({name: partial(_tried, peer, gpu) for name, peer in peers.items()}, result)
    for size, n in ELEMENTS.items():
        _measure(result, size, n, makers)
    largest = f"gbs_{list(ELEMENTS)[-1]}"
    ours = result.figures[largest]
    result.figures["checks_cost_percent"] = cost_percent(ours, result.figures[f"unchecked_{largest}"])
    result.ratios["to_copy"] = round(ours / result.figures[f"copy_{largest}"], 3)
    for name in makers.keys() & result.peers.keys():
        result.ratios[f"vs_{name}"] = round(ours / result.peers[name][largest], 3)
    return result


def _measure(result: Measurement, size: str, n: int, makers: dict[str, Make]) -> None:
    gpu = result.device
    assert gpu is not None
    x, v = oscillator.state(n)
    springs = {name: make(x, v) for name, make in makers.items()}
    springs["unchecked"] = _ours(gpu, x, v, unchecked(oscillator.step, gpu))
    calls: dict[str, Callable[[], object]] = {name: each.steps for name, each in springs.items()}
    calls["copy"] = partial(_copy, gpu, _buffers(gpu, n), n)
    for first in calls.values():
        first()
    ours = springs["ours"].read()
    for name in springs.keys() & result.peers.keys():
        _agree(result.peers[name], ours, springs[name].read())
    for _ in range(STEPS):
        sn.launch(oscillator.step, dim=n, inputs=[x, v, *oscillator.SCALARS], device="cpu")
    _agree(result.figures, ours, [x, v])
    for name, us in alternated_us(calls, rounds=_ROUNDS[size]).items():
        figures = result.peers.get(name, result.figures)
        prefix = "" if name in makers else f"{name}_"
        figures[f"{prefix}gbs_{size}"] = round(_BYTES * n * STEPS / us / 1e3, 1)


def _agree(figures: dict[str, Any], ours: list[Values], theirs: list[Values]) -> None:
    figures["same_bits"] = figures.get("same_bits", True) and all(map(np.array_equal, ours, theirs))


def _buffers(gpu: Cuda, n: int) -> list[Any]:
    return [gpu.allocate(_BYTES // 2 * n, zeroed=True, label="bench") for _ in range(2)]


def _copy(gpu: Cuda, buffers: list[Any], n: int) -> None:
    source, to = (each.address for each in buffers)
    with gpu.active():
        for _ in range(STEPS):
            call("cuMemcpyDtoDAsync", to, source, _BYTES // 2 * n, gpu.stream)
    gpu.synchronize()


def _ours(gpu: Cuda, x: Values, v: Values, kernel: Any = oscillator.step) -> Springs:
    arrays = [sn.array(values, dtype=float, device=gpu) for values in (x, v)]
    plan = sn.Plan(gpu)
    for _ in range(STEPS):
        plan.launch(kernel, dim=len(x), inputs=[*arrays, *oscillator.SCALARS])
    plan.freeze()

    def steps() -> None:
        plan.run()
        gpu.synchronize()

    return Springs(steps, lambda: [values.numpy() for values in arrays])


def _tried(peer: Callable[[Cuda], tuple[str, Make]], gpu: Cuda) -> tuple[str, Make]:
    """Start a peer and let it step a few springs, so that one that cannot run is found out before it is measured."""
    version, make = peer(gpu)
    make(*oscillator.state(_BLOCK)).steps()
    return version, make


def _repeated(step: Callable[[], object], wait: Callable[[], object]) -> Callable[[], object]:
    def steps() -> None:
        for _ in range(STEPS):
            step()
        wait()

    return steps


def _warp(gpu: Cuda) -> tuple[str, Make]:
    wp, step = oscillator.warp()

    def make(x: Values, v: Values) -> Springs:
        arrays = [wp.array(values, dtype=float, device=gpu.name) for values in (x, v)]
        inputs = [*arrays, *oscillator.SCALARS]
        recorded = wp.launch(step, len(x), inputs=inputs, device=gpu.name, record_cmd=True)
        wait = partial(wp.synchronize_stream, wp.get_stream(gpu.name))
        return Springs(_repeated(recorded.launch, wait), lambda: [values.numpy() for values in arrays])

    return str(wp.__version__), make


def _numba_cuda(gpu: Cuda) -> tuple[str, Make]:
    cuda, step = oscillator.numba_cuda()
    cuda.select_device(gpu.ordinal)
    scalars = tuple(map(np.float32, oscillator.SCALARS))

    def make(x: Values, v: Values) -> Springs:
        arrays = [cuda.to_device(values) for values in (x, v)]
        configured = step[-(-len(x) // _BLOCK), _BLOCK]
        steps = _repeated(partial(configured, *arrays, *scalars), cuda.synchronize)
        return Springs(steps, lambda: [values.copy_to_host() for values in arrays])

    return metadata.version("numba-cuda"), make


def _cupy(gpu: Cuda) -> tuple[str, Make]:
    cupy, step = oscillator.cupy()
    cupy.cuda.Device(gpu.ordinal).use()
    scalars = tuple(map(np.float32, oscillator.SCALARS))

    def make(x: Values, v: Values) -> Springs:
        arrays = [cupy.asarray(values) for values in (x, v)]
        wait = cupy.cuda.get_current_stream().synchronize
        return Springs(_repeated(partial(step, *scalars, *arrays), wait), lambda: list(map(cupy.asnumpy, arrays)))

    return str(cupy.__version__), make
