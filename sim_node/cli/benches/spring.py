"""How fast a memory-bound kernel runs: a damped spring a thread, bounds checked, beside numba, Warp and numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.cli.benches import oscillator
from sim_node.cli.benches.measurement import Measurement, alternated_us, cost_percent
from sim_node.cli.benches.peers import started
from sim_node.cli.benches.unchecked import unchecked

ELEMENTS = {"1M": 1 << 20, "16M": 1 << 24}
_BYTES = 16  # a spring reads and writes two float32
_ROUNDS = {"1M": 400, "16M": 30}

Step = Callable[[], object]
# Makes a contender's step of given positions and velocities.
Make = Callable[[Any, Any], Step]


def run() -> Measurement:
    """Measure one step of 1 M and of 16 M springs, one core, each contender in turn; medians in GB/s.

    ``checks_cost_percent`` is what the step of 1 M takes longer than without a check; ``same_bits`` says of each peer
    whether its springs stand bit for bit where ours do after the first step.
    """
    result = Measurement("spring")
    makers: dict[str, Make] = {"ours": _ours}
    makers |= started({"numba": _numba, "warp": _warp, "numpy": _numpy}, result)
    for size, n in ELEMENTS.items():
        _measure(result, size, n, makers)
    result.figures["checks_cost_percent"] = cost_percent(result.figures["gbs_1M"], result.figures["unchecked_gbs_1M"])
    for name in makers.keys() & result.peers.keys():
        ratio = result.figures["gbs_1M"] / result.peers[name]["gbs_1M"]
        result.ratios[f"vs_{name}"] = round(ratio, 2)
    return result


def _measure(result: Measurement, size: str, n: int, makers: dict[str, Make]) -> None:
    states = {name: oscillator.state(n) for name in makers}
    steps = {name: make(*states[name]) for name, make in makers.items()}
    for step in steps.values():
        step()
    first = {name: [values.copy() for values in state] for name, state in states.items()}
    copy = np.empty(n, np.float32)
    more: dict[str, Step] = {
        "copy": partial(np.copyto, copy, states["ours"][0]),
        "unchecked": _ours(*oscillator.state(n), kernel=unchecked(oscillator.step)),
    }
    times = alternated_us({**steps, **more}, rounds=_ROUNDS[size])
    for name, us in times.items():
        figures = result.peers.get(name, result.figures)
        moved = 8 if name == "copy" else _BYTES
        figures[f"{f'{name}_' if name in more else ''}gbs_{size}"] = round(moved * n / us / 1e3, 1)
        if name in result.peers:
            figures["same_bits"] = all(map(np.array_equal, first[name], first["ours"]))


def _ours(x: Any, v: Any, kernel: Any = oscillator.step) -> Step:
    return partial(sn.launch, kernel, dim=len(x), inputs=[x, v, *oscillator.SCALARS])


def _numba() -> tuple[str, Make]:
    numba, step = oscillator.numba()
    scalars = tuple(map(np.float32, oscillator.SCALARS))
    return str(numba.__version__), lambda x, v: partial(step, x, v, *scalars)


def _numpy() -> tuple[str, Make]:
    scalars = tuple(map(np.float32, oscillator.SCALARS))
    return str(np.__version__), lambda x, v: partial(oscillator.expression, x, v, *scalars)


def _warp() -> tuple[str, Make]:
    wp, step = oscillator.warp()

    def make(x: Any, v: Any) -> Step:
        inputs = [wp.array(x, device="cpu", copy=False), wp.array(v, device="cpu", copy=False), *oscillator.SCALARS]
        recorded = wp.launch(step, len(x), inputs=inputs, device="cpu", record_cmd=True)
        launch: Step = recorded.launch
        return launch

    return str(wp.__version__), make
