"""What a small launch costs in Python: ours, beside Warp's launch and recorded launch, numba and ctypes, in one run."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.cli.benches import oscillator
from sim_node.cli.benches.absence import absence
from sim_node.cli.benches.measurement import Measurement, per_call_us

ELEMENTS = (1, 1024)


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
            result.peers[name] = absence(absent)
    for name, figures in result.peers.items():
        if "launch_us_1" in figures:
            result.ratios[f"vs_{name}"] = round(figures["launch_us_1"] / result.figures["launch_us_1"], 2)
        if "recorded_us_1" in figures:
            result.ratios[f"plan_vs_{name}_recorded"] = round(figures["recorded_us_1"] / result.figures["plan_us_1"], 2)
    return result


def _ours(n: int) -> float:
    inputs, launch = [*map(sn.array, oscillator.state(n)), *oscillator.SCALARS], sn.launch
    return per_call_us(partial(launch, oscillator.step, dim=n, inputs=inputs))


def _plan(n: int) -> float:
    plan = sn.Plan()
    plan.launch(oscillator.step, dim=n, inputs=[*map(sn.array, oscillator.state(n)), *oscillator.SCALARS])
    plan.freeze()
    return per_call_us(plan.run)


def _warp() -> dict[str, Any]:
    wp, step = oscillator.warp()
    figures: dict[str, Any] = {"version": wp.__version__}
    for n in ELEMENTS:
        inputs = [*(wp.array(values, device="cpu") for values in oscillator.state(n)), *oscillator.SCALARS]
        figures[f"launch_us_{n}"] = per_call_us(partial(wp.launch, step, n, inputs=inputs, device="cpu"), calls=200)
        command = wp.launch(step, n, inputs=inputs, device="cpu", record_cmd=True)
        figures[f"recorded_us_{n}"] = per_call_us(command.launch, calls=500)
    return figures


def _numba() -> dict[str, Any]:
    numba, step = oscillator.numba()
    scalars = tuple(map(np.float32, oscillator.SCALARS))
    figures: dict[str, Any] = {"version": numba.__version__}
    for n in ELEMENTS:
        x, v = oscillator.state(n)
        figures[f"launch_us_{n}"] = per_call_us(partial(step, x, v, *scalars))
    return figures


def _ctypes() -> dict[str, Any]:
    """Call the very same machine code through ctypes with its arguments packed beforehand and nothing checked."""
    from sim_node.compiler.build import build

    program = build(oscillator.step)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(program.address)
    error = np.zeros(8, np.int64)
    figures: dict[str, Any] = {"checks": "none"}
    for n in ELEMENTS:
        x, v = oscillator.state(n)
        block = np.array([0, 0, x.ctypes.data, n, v.ctypes.data, n, 0, 0], np.int64)
        block.view(np.int32)[:4] = (n, 1, 1, 1)
        block.view(np.float32)[12:15] = oscillator.SCALARS
        at, fault = block.ctypes.data, error.ctypes.data
        figures[f"launch_us_{n}"] = per_call_us(partial(entry, 0, n, at, fault))
    return figures
