"""Launch a kernel: one call of C that checks the arguments, packs them and runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim_node import _native
from sim_node.device.names import Device, get_device
from sim_node.lang.kernel import Kernel
from sim_node.runtime.caller import caller
from sim_node.runtime.fault import coordinates, kernel_error
from sim_node.runtime.generic import concrete
from sim_node.runtime.program import load, variant
from sim_node.runtime.refusal import launch_error

_run = _native.launch
_Refusal = _native.Refusal


def launch(
    kernel: Kernel,
    dim: int | Sequence[int],
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    *,
    device: str | Device | None = None,
    stream: None = None,
    block_dim: int | None = None,
) -> None:
    """Run a kernel for every index of a grid of one to four dimensions; its arguments are the inputs, then the outputs.

    An array parameter takes an ``sn.array``, a part of one, or anything with a buffer of that dtype, such as a numpy
    array; what stands in ``outputs`` must be writeable. A scalar takes a Python or numpy number in its range, a
    composite its components, a struct an instance. Threads are numbered row-major; every extent is below 2**31, their
    product need not be. ``stream`` and ``block_dim`` are of GPUs: no result depends on them.
    The first launch builds the kernel, and so does the first with arrays in another layout, or with other types for
    what the kernel leaves open. A long launch lets other Python threads run meanwhile.
    Raises LaunchError when arguments do not fit, KernelError when a thread stopped itself, BuildError when the kernel
    cannot be compiled, DeviceError for an unknown device.
    """
    del stream, block_dim
    if device is not None:
        get_device(device)
    entry = kernel.entry if type(kernel) is Kernel else None
    if entry is None:
        kernel = concrete(kernel, inputs, outputs)
        entry = load(kernel)
    try:
        stopped = _run(entry, dim, inputs, outputs)
    except _Refusal as refusal:
        stopped = _run_variant(refusal, kernel, dim, inputs, outputs)
    if stopped is not None:
        raise kernel_error(stopped[0].program, caller(), coordinates(dim, stopped[2]), *stopped[1:])


def _run_variant(refusal: _native.Refusal, kernel: Kernel, dim: Any, inputs: Any, outputs: Any) -> Any:
    """Run a kernel again where all that was wrong is that it was not compiled for these layouts yet."""
    try:
        if refusal.args[1] != "layout":
            raise refusal
        return _run(variant(kernel, inputs, outputs), dim, inputs, outputs)
    except _Refusal as final:
        raise launch_error(final, kernel.entry, dim, inputs, outputs) from None
