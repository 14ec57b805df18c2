"""What the math library costs an element, beside numpy's float32 functions, which may be off by units, in one run."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.cli.benches.measurement import Measurement, alternated_us
from sim_node.compiler.backend import host
from sim_node.compiler.backend.target import HOST
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise
from sim_node.lang.kernel import Kernel
from sim_node.lang.library import MATH

ELEMENTS = 1_000_000
ROUNDS = 60
_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
# where every function has results worth computing
_DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10", "log1p"), (0.001, 1000.0)),
    **dict.fromkeys(("asin", "acos"), (-1.0, 1.0)),
}
_DOMAIN = (-10.0, 10.0)


def run() -> Measurement:
    """Measure 1 M elements, one core each; ns an element, whether vectorised, and numpy's time over ours."""
    result = Measurement("math")
    result.peers["numpy"] = {"version": np.__version__}
    for name in MATH:
        kernel, other = _kernel(name), getattr(np, _NUMPY.get(name, name), None)
        x = np.random.default_rng(1).uniform(*_DOMAINS.get(name, _DOMAIN), ELEMENTS).astype(np.float32)
        y = np.zeros_like(x)
        calls: dict[str, Callable[[], object]] = {
            "ours": partial(sn.launch, kernel, dim=ELEMENTS, inputs=[x], outputs=[y])
        }
        if other is not None:  # numpy has no erf
            calls["numpy"] = partial(other, x, out=y)
        ns = {who: round(us * 1000 / ELEMENTS, 3) for who, us in alternated_us(calls, rounds=ROUNDS).items()}
        result.figures[f"{name}_ns"] = ns["ours"]
        result.figures[f"{name}_vectorised"] = vectorised(kernel)
        if other is not None:
            result.peers["numpy"][f"{name}_ns"] = ns["numpy"]
            result.ratios[f"{name}_vs_numpy"] = round(ns["numpy"] / ns["ours"], 2)
    return result


def vectorised(kernel: Kernel) -> bool:
    """Tell whether threads run in the lanes of vectors."""
    return bool(host.form(optimise(lower(kernel)).entry, HOST.bits).wide)


def _kernel(name: str) -> Any:
    function = getattr(sn, name)

    @sn.kernel
    def apply(x: sn.array(dtype=float), y: sn.array(dtype=float)):
        i = sn.tid()
        y[i] = function(x[i])

    return apply
