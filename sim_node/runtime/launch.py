"""Launch a kernel: one call of C that checks the arguments, packs them and runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim_node import _native
from sim_node.device.names import Device, get_device
from sim_node.lang.kernel import Kernel
from sim_node.runtime.caller import caller
from sim_node.runtime.fault import kernel_error
from sim_node.runtime.generic import concrete
from sim_node.runtime.program import load
from sim_node.runtime.refusal import launch_error

_run = _native.launch
_Refusal = _native.Refusal


def launch(
    kernel: Kernel,
    dim: int | tuple[int],
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    device: str | Device | None = None,
) -> None:
    """Run a kernel for threads 0 to dim - 1; its arguments are the inputs, then the outputs, in parameter order.

    An array parameter takes an ``sn.array`` or anything with a buffer of that dtype, such as a numpy array; what stands
    in ``outputs`` must be writeable. A scalar takes a Python or numpy number in its range, a vector its components.
    The first launch builds the kernel; one that leaves types open is built for each tuple of them.
    A long launch lets other Python threads run meanwhile.
    Raises LaunchError when arguments do not fit, KernelError when a thread stopped itself, BuildError when the kernel
    cannot be compiled, DeviceError for an unknown device.
    """
    if device is not None:
        get_device(device)
    entry = kernel.entry if type(kernel) is Kernel else None
    if entry is None:
        entry = load(concrete(kernel, inputs, outputs))
    try:
        stopped = _run(entry, dim, inputs, outputs)
    except _Refusal as refusal:
        raise launch_error(refusal, entry.program, dim, inputs, outputs) from None
    if stopped is not None:
        raise kernel_error(entry.program, caller(), *stopped)
