"""How fast a stencil in two dimensions runs, a D2Q9 fluid, and what it costs that each of its indices is checked."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.cli.benches import lattice
from sim_node.cli.benches.absence import absence
from sim_node.cli.benches.measurement import Measurement, alternated_us, cost_percent
from sim_node.cli.benches.unchecked import unchecked
from sim_node.compiler.inspection import inspection

SHAPE = (512, 512)
ROUNDS = 60


def run() -> Measurement:
    """Measure a step of 512 x 512 cells, one core, checked, unchecked and Warp's; medians in million cells a second.

    ``checks`` counts those of the text by what became of them; ``same_bits`` says whether Warp's cells, of the same
    text, have ours' bits.
    """
    result = Measurement("lbm")
    before = lattice.state(*SHAPE)
    after = {name: np.zeros_like(before) for name in ("checked", "unchecked", "warp")}
    calls: dict[str, Any] = {
        name: partial(sn.launch, kernel, dim=SHAPE, inputs=[before, after[name], lattice.OMEGA])
        for name, kernel in (("checked", lattice.step), ("unchecked", unchecked(lattice.step)))
    }
    try:
        wp, step = lattice.warp()
        arrays = [wp.array(values, device="cpu", copy=False) for values in (before, after["warp"])]
        recorded = wp.launch(step, SHAPE, inputs=[*arrays, lattice.OMEGA], device="cpu", record_cmd=True)
        calls["warp"] = recorded.launch
        result.peers["warp"] = {"version": str(wp.__version__)}
    except ImportError as absent:
        result.peers["warp"] = absence(absent)
    for call in calls.values():
        call()
    speeds = {name: SHAPE[0] * SHAPE[1] / us for name, us in alternated_us(calls, rounds=ROUNDS).items()}
    found = inspection(lattice.step)
    result.figures = {
        "checked": round(speeds["checked"], 1),
        "unchecked": round(speeds["unchecked"], 1),
        "checks_cost_percent": cost_percent(speeds["checked"], speeds["unchecked"]),
        "checks": {state: [c.state for c in found.checks].count(state) for state in ("removed", "hoisted", "kept")},
        "lanes": found.lanes,
    }
    if "warp" in speeds:
        result.peers["warp"]["checked"] = round(speeds["warp"], 1)
        result.peers["warp"]["same_bits"] = bool(np.array_equal(after["warp"], after["checked"]))
        result.ratios["vs_warp"] = round(speeds["checked"] / speeds["warp"], 2)
    return result
