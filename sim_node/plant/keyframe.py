"""A whole state after a tick, with all that says which computation it belongs to."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import sim_node
from sim_node.compiler.backend.target import HOST
from sim_node.compiler.build import maker
from sim_node.device.cuda import Cuda
from sim_node.device.names import PYTHON, Device
from sim_node.lang.library import MATH_VERSION
from sim_node.layout import Layout
from sim_node.plant.reference import reference_of
from sim_node.runtime.gpu import toolchain

if TYPE_CHECKING:
    from sim_node.plant.stepper import Stepper


@dataclass(frozen=True, slots=True)
class Keyframe:
    """What ``msg/Keyframe.msg`` carries, without the ring's generation.

    ``plant`` is a reference, ``parameters`` and ``versions`` are JSON objects, ``state`` and ``inputs`` are bytes as
    the layouts say; ``dt_ns`` is a tick in simulated nanoseconds.
    """

    step: int
    plant: str
    parameters: str
    layout: Layout
    input_layout: Layout
    plan_digest: str
    seed: int
    dt_ns: int
    substeps: int
    target: str
    versions: str
    reproducible: bool
    state: bytes
    inputs: bytes


def target_of(device: Device) -> str:
    """Name what kernels on a device are compiled for."""
    if isinstance(device, Cuda):
        return toolchain(device).target.identity
    return PYTHON.name if device is PYTHON else HOST.identity


@cache
def versions_of(guarded: tuple[str, ...]) -> str:
    """Write the versions that bits depend on, and which kernels have guards."""
    ours = {"sim_node": sim_node.__version__, "math": str(MATH_VERSION)}
    if guarded:
        ours["guards"] = f"clamp in {', '.join(guarded)}"
    return json.dumps({**ours, "python": platform.python_version(), "llvmlite": maker()})


def taken(stepper: Stepper, target: str, step: int, state: bytes, inputs: bytes) -> Keyframe:
    """Tell of a stepper's state which computation it belongs to."""
    return Keyframe(
        step=step,
        plant=reference_of(type(stepper.plant)),
        parameters=json.dumps(dict(stepper.plant.parameters)),
        layout=stepper.state_layout,
        input_layout=stepper.input_layout,
        plan_digest=stepper.plan_digest,
        seed=stepper.seed,
        dt_ns=stepper.dt_ns,
        substeps=stepper.substeps,
        target=target,
        versions=versions_of(stepper.guarded),
        reproducible=True,  # no kernel can ask for fast_math or deterministic=False yet
        state=state,
        inputs=inputs,
    )
