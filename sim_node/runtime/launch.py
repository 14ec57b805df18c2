"""Launch a kernel: one call of C that checks the arguments, packs them and runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node import _native
from sim_node.device import names
from sim_node.device.names import DEFAULT, Device, get_device
from sim_node.dtypes import ArrayType, Composite, Struct, Tuple
from sim_node.errors import mistakes
from sim_node.lang.kernel import Kernel
from sim_node.lang.values.value import viewed
from sim_node.runtime.caller import caller
from sim_node.runtime.element import native
from sim_node.runtime.fault import coordinates, kernel_error
from sim_node.runtime.foreign import adopted
from sim_node.runtime.generic import concrete
from sim_node.runtime.program import Entry, load, sized, variant
from sim_node.runtime.refusal import argument_error, launch_error

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
    max_blocks: int | None = None,
    record_cmd: bool = False,
) -> Launch | None:
    """Run a kernel for every index of a grid of one to four dimensions; its arguments are the inputs, then the outputs.

    An array parameter takes an ``sn.array``, a part of one, or on the CPU anything with a buffer of that dtype, such as
    a numpy array, on every device memory of other libraries by DLPack or an array interface (CUDA's where it is of a
    GPU), and among the inputs ``None`` for one of no elements; what stands in ``outputs`` must be writeable. A scalar
    takes a Python or numpy number in its range, a composite its components, a struct an instance.
    Threads are numbered row-major; every extent is below 2**31, their product need not be. ``block_dim`` is how many
    of them make a block of a GPU, by default what fills it best, and ``max_blocks`` how many blocks of the launch run
    at once, by default and where it is 0 any number: the others follow when those have ended. No result depends on
    them, and other devices have no blocks; ``stream`` is of Warp's launches.
    With ``record_cmd`` nothing runs, and the launch is returned, to be made later and again.
    The first launch builds the kernel, and so does the first with arrays in another layout, or with other types for
    what the kernel leaves open. A long launch lets other Python threads run meanwhile.
    Raises LaunchError when arguments do not fit, KernelError when a thread stopped itself, BuildError when the kernel
    cannot be compiled, DeviceError for an unknown device. On the device ``python`` the kernel is run by CPython, thread
    by thread, where debuggers and prints reach it.
    """
    del stream
    where = names.current if device is None else get_device(device)
    if record_cmd:
        return Launch(kernel, where, dim, inputs, outputs, block_dim, max_blocks)
    entry = kernel.entry if type(kernel) is Kernel and where is DEFAULT else None
    if entry is None:
        kernel = concrete(kernel, inputs, outputs)
        entry = load(kernel, where)
    if block_dim is not None or max_blocks is not None:
        entry = sized(entry, block_dim, max_blocks)
    try:
        stopped = _run(entry, dim, inputs, outputs)
    except _Refusal as refusal:
        stopped = _run_otherwise(refusal, entry, kernel, dim, inputs, outputs)
    if stopped is not None:
        raise kernel_error(stopped[0].program, caller(), coordinates(dim, stopped[2]), *stopped[1:])
    return None


def _run_otherwise(refusal: _native.Refusal, entry: Entry, kernel: Kernel, dim: Any, inputs: Any, outputs: Any) -> Any:
    """Run a kernel again, with arrays over what is memory of other libraries, or compiled for layouts that are new."""
    borrowed = adopted(entry.program.params, inputs, outputs, entry.device)
    if borrowed is not None:
        inputs, outputs, streams = borrowed
        try:
            stopped = _run(entry, dim, inputs, outputs)
        except _Refusal as again:
            stopped = _run_otherwise(again, entry, kernel, dim, inputs, outputs)
        for device, stream in streams:
            device.lead(stream)
        return stopped
    try:
        if refusal.args[1] != "layout":
            raise refusal
        return _run(variant(entry, kernel, inputs, outputs), dim, inputs, outputs)
    except _Refusal as final:
        raise launch_error(final, entry, dim, inputs, outputs) from None


def _zero(type_: Any) -> Any:
    """The argument that nobody set: zero, also where a type's own value of nothing is another, as a transform's is."""
    if isinstance(type_, Composite):
        return viewed(type_, np.zeros(type_.shape, type_.numpy))
    return None if isinstance(type_, (ArrayType, Tuple)) else type_()


class Launch:
    """A kernel with a grid and arguments; ``launch`` runs it, as often as wanted. Where each run counts, record a Plan.

    Arguments that were never set are zero, arrays without elements.
    """

    def __init__(
        self,
        kernel: Kernel,
        device: str | Device | None = None,
        dim: int | Sequence[int] = 0,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        block_dim: int | None = None,
        max_blocks: int | None = None,
    ) -> None:
        """Build the kernel.

        Raises BuildError when it cannot be compiled, DeviceError for an unknown device, LaunchError for a ``block_dim``
        or ``max_blocks`` that the kernel cannot have.
        """
        self._device = get_device(device)
        self._kernel, self._dim = concrete(kernel, inputs, outputs), dim
        self._blocks: dict[str, Any] = {"block_dim": block_dim, "max_blocks": max_blocks}
        self._params = sized(load(self._kernel, self._device), **self._blocks).program.params
        given = [*inputs, *outputs]
        unset = [_zero(type_) for _, type_ in self._params]
        self._arguments = given + unset[len(given) :]

    def set_dim(self, dim: int | Sequence[int]) -> None:
        """Set the grid of later launches."""
        self._dim = dim

    def set_param_at_index(self, index: int, value: Any) -> None:
        """Set an argument of later launches by its parameter's place.

        Raises LaunchError where there is none, and for a value that does not fit.
        """
        if not 0 <= index < len(self._params):
            raise mistakes.NO_PARAMETER(
                f"kernel '{self._kernel.name}' has {len(self._params)} parameters, none at {index}"
            )
        self._set(index, value)

    def set_param_by_name(self, name: str, value: Any) -> None:
        """Set an argument of later launches by its parameter's name.

        Raises LaunchError where there is none, and for a value that does not fit.
        """
        known = [each for each, _ in self._params]
        if name not in known:
            raise mistakes.NO_PARAMETER(
                f"kernel '{self._kernel.name}' has no parameter '{name}'; it has {', '.join(known)}"
            )
        self._set(known.index(name), value)

    def _set(self, index: int, value: Any) -> None:
        """Set an argument; arrays are checked when they are launched, since they may change until then."""
        name, type_ = self._params[index]
        if not isinstance(type_, ArrayType):
            try:
                native(Struct("", ((name, type_),))).pack((value,), self._device if self._device.is_cuda else None)
            except _Refusal as refusal:
                raise argument_error(self._kernel.name, refusal.args[1], name, type_, value, self._device) from None
        self._arguments[index] = value

    def set_params(self, values: Sequence[Any]) -> None:
        """Set all arguments of later launches, in the order of the parameters."""
        self._arguments = list(values)

    def launch(self) -> None:
        """Run the kernel; raises as ``sn.launch``."""
        launch(self._kernel, self._dim, self._arguments, device=self._device, **self._blocks)
