"""Building kernels before they are launched."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sim_node.device.names import Device, get_device
from sim_node.lang.annotation import is_open
from sim_node.lang.kernel import Kernel
from sim_node.lang.module import Module
from sim_node.lang.module import modules as known_modules
from sim_node.runtime.program import load_all


def load_module(
    module: Module | str | None = None, device: str | Device | None = None, recursive: bool = False
) -> None:
    """Build the kernels of a module that have no open types, so that no launch waits for that; the caller's by default.

    With ``recursive`` also those of the modules inside the package of that name.
    Raises BuildError for the first that cannot be compiled, DeviceError for an unknown device.
    """
    place = get_device(device)
    name = str(module or sys._getframe(1).f_globals.get("__name__", "__main__"))
    for known in list(sys.modules):
        if known == name or (recursive and known.startswith(f"{name}.")):
            _load(known, place)


def force_load(device: str | Device | None = None, modules: Sequence[Module | str] | None = None) -> None:
    """Build the kernels of several modules, by default of all that hold some; raises as ``load_module``."""
    place = get_device(device)
    for module in known_modules() if modules is None else modules:
        _load(str(module), place)


def _load(name: str, device: Device) -> None:
    things = list(vars(sys.modules[name]).values()) if name in sys.modules else []
    kernels = dict.fromkeys(thing for thing in things if isinstance(thing, Kernel))
    load_all([kernel for kernel in kernels if not any(map(is_open, kernel.annotations.values()))], device)
