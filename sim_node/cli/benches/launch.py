"""What a small launch costs in Python: ours, beside Warp's launch and recorded launch, numba and ctypes, in one run."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.cli.benches.measurement import Measurement, per_call_us

ELEMENTS = (1, 1024)


@sn.kernel
def spring(x: sn.array(dtype=float), v: sn.array(dtype=float), k: float, c: float, dt: float):
    """One semi-implicit Euler step of a damped spring: 2 arrays and 3 scalars, the shape of a typical launch."""
    i = sn.tid()
    v[i] = v[i] + dt * (-k * x[i] - c * v[i])
    x[i] = x[i] + dt * v[i]


def run() -> Measurement:
    """Measure the whole Python call, checks included, for 1 and 1024 elements; medians in µs."""
    result = Measurement("launch")
    peers = {"warp": _warp, "numba": _numba, "ctypes": _ctypes}
    for n in ELEMENTS:
        result.figures[f"launch_us_{n}"] = _ours(n)
        result.figures[f"plan_us_{n}"] = _plan(n)
    for name, peer in peers.items():
        try:
            result.peers[name] = peer()
        except ImportError as absent:
            result.peers[name] = {"absent": f"{absent}; make setup BENCH=1 brings it"}
    for name, figures in result.peers.items():
        if "launch_us_1" in figures:
            result.ratios[f"vs_{name}"] = round(figures["launch_us_1"] / result.figures["launch_us_1"], 2)
        if "recorded_us_1" in figures:
            result.ratios[f"plan_vs_{name}_recorded"] = round(figures["recorded_us_1"] / result.figures["plan_us_1"], 2)
    return result


def _state(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.ones(n, np.float32), np.zeros(n, np.float32)


def _ours(n: int) -> float:
    x, v = (sn.array(values) for values in _state(n))
    inputs, launch = [x, v, 100.0, 0.5, 1e-4], sn.launch
    return per_call_us(partial(launch, spring, dim=n, inputs=inputs))


def _plan(n: int) -> float:
    plan = sn.Plan()
    plan.launch(spring, dim=n, inputs=[*(sn.array(values) for values in _state(n)), 100.0, 0.5, 1e-4])
    plan.freeze()
    return per_call_us(plan.run)


def _warp() -> dict[str, Any]:
    import warp as wp

    wp.config.quiet = True
    wp.init()

    def step(x: wp.array(dtype=float), v: wp.array(dtype=float), k: float, c: float, dt: float) -> None:
        i = wp.tid()
        v[i] = v[i] + dt * (-k * x[i] - c * v[i])
        x[i] = x[i] + dt * v[i]

    step = wp.kernel(step)
    figures: dict[str, Any] = {"version": wp.__version__}
    for n in ELEMENTS:
        x, v = (wp.array(values, device="cpu") for values in _state(n))
        inputs = [x, v, 100.0, 0.5, 1e-4]
        figures[f"launch_us_{n}"] = per_call_us(partial(wp.launch, step, n, inputs=inputs, device="cpu"), calls=200)
        command = wp.launch(step, n, inputs=inputs, device="cpu", record_cmd=True)
        figures[f"recorded_us_{n}"] = per_call_us(command.launch, calls=500)
    return figures


def _numba() -> dict[str, Any]:
    import numba

    @numba.njit
    def step(x, v, k, c, dt):
        for i in range(x.size):
            v[i] = v[i] + dt * (-k * x[i] - c * v[i])
            x[i] = x[i] + dt * v[i]

    scalars = tuple(np.float32(s) for s in (100.0, 0.5, 1e-4))
    figures: dict[str, Any] = {"version": numba.__version__}
    for n in ELEMENTS:
        x, v = _state(n)
        figures[f"launch_us_{n}"] = per_call_us(partial(step, x, v, *scalars))
    return figures


def _ctypes() -> dict[str, Any]:
    """Call the very same machine code through ctypes with its arguments packed beforehand and nothing checked."""
    from sim_node.compiler.build import build

    program = build(spring)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(program.address)
    error = np.zeros(8, np.int64)
    figures: dict[str, Any] = {"checks": "none"}
    for n in ELEMENTS:
        x, v = _state(n)
        block = np.array([x.ctypes.data, n, v.ctypes.data, n, 0, 0], np.int64)
        block.view(np.float32)[8:11] = (100.0, 0.5, 1e-4)
        at, fault = block.ctypes.data, error.ctypes.data
        figures[f"launch_us_{n}"] = per_call_us(partial(entry, 0, n, at, fault))
    return figures
