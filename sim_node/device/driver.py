"""NVIDIA's driver: its functions by name, through cuda-python, which is loaded when a GPU is first asked for."""

from __future__ import annotations

import importlib
import os
import re
import threading
from pathlib import Path
from typing import Any

from sim_node import _native
from sim_node.errors import DriverError as DriverError
from sim_node.errors import mistakes

_API = 12000  # of the functions that C calls: CUDA 12.0
_VERSION = Path("/proc/driver/nvidia/version")
_RELEASE = re.compile(r"\d+\.\d+[.\d]*")
# After these the context is of no use any more: CUDA driver API, CUresult.
_STICKY = frozenset(
    f"CUDA_ERROR_{name}"
    for name in (
        *("ILLEGAL_ADDRESS", "LAUNCH_TIMEOUT", "HARDWARE_STACK_ERROR", "ILLEGAL_INSTRUCTION", "MISALIGNED_ADDRESS"),
        *("INVALID_ADDRESS_SPACE", "INVALID_PC", "LAUNCH_FAILED", "CONTAINED", "ECC_UNCORRECTABLE", "UNKNOWN"),
    )
)
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE: a driver, and no GPU that it may use

_lock = threading.Lock()
_bindings: Any = None
_owner = 0  # the process that loaded it


def load() -> None:
    """Load the driver, once for the process; harmless when that was done.

    Raises DeviceError saying what is missing: cuda-python, the driver itself, or that it refuses to start.
    """
    global _bindings, _owner
    with _lock:
        if _bindings is not None:
            return
        try:
            found = importlib.import_module("cuda.bindings.driver")
        except ImportError as absent:
            raise mistakes.NO_DRIVER(f"no GPU can be used: {absent}; pip install 'sim_node[cuda]'") from None
        try:
            (result,) = found.cuInit(0)
        except RuntimeError as absent:
            raise mistakes.NO_DRIVER(f"no GPU can be used: {' '.join(str(absent).split())}") from None
        if int(result) not in (0, _NO_DEVICE):
            raise _error(found, "cuInit", result)
        _native.drive(tuple(_address(found, name) for name in _native.DRIVER))
        _bindings, _owner = found, os.getpid()


def bindings() -> Any:
    """Give cuda-python's module of the driver, with its structures and constants; raises DeviceError as ``load``."""
    if _bindings is None:
        load()
    return _bindings


def is_ours() -> bool:
    """Whether this process loaded the driver, and not one that it was forked from."""
    return os.getpid() == _owner


def call(function: str, *args: Any) -> Any:
    """Call a function of the driver; gives what it gives, a tuple where that is more than one thing.

    Raises DriverError where it answers with an error, DeviceError where there is no driver, or where this process was
    forked from one that had loaded it: CUDA does not work there.
    """
    found = bindings()
    if not is_ours():
        raise mistakes.FORKED(
            "this process was forked from one that uses GPUs, and CUDA cannot follow\n"
            "  instead: start it by multiprocessing.get_context('spawn'), or use GPUs in the children only"
        )
    result, *values = getattr(found, function)(*args)
    if int(result):
        raise _error(found, function, result)
    return values[0] if len(values) == 1 else tuple(values) or None


def version() -> str:
    """Tell which driver it is: the CUDA that it speaks, and its own number where the system tells it.

    What it makes of PTX depends on both. Raises DeviceError as ``load``.
    """
    told = _RELEASE.search(_VERSION.read_text()) if _VERSION.exists() else None
    return f"{call('cuDriverGetVersion')}" + (f"-{told[0]}" if told else "")


def lost(what: str, result: int) -> DriverError:
    """Say that the driver gave up while something ran; after some errors it does nothing more for this process."""
    told, name = _told(bindings(), result)
    after = "\n  the GPU is lost to this process: start it again" if name in _STICKY else ""
    return mistakes.DRIVER(f"{what}: the CUDA driver answers {told}{after}", name)


def _address(found: Any, name: str) -> int:
    """Find a function for C to call."""
    result, address, _ = found.cuGetProcAddress(name.encode(), _API, 0)
    if int(result):
        raise _error(found, f"cuGetProcAddress({name})", result)
    return int(address)


def _error(found: Any, function: str, result: Any) -> DriverError:
    told, name = _told(found, result)
    return mistakes.DRIVER(f"the CUDA driver's {function} answers {told}", name)


def _told(found: Any, result: Any) -> tuple[str, str]:
    """What an error is, and CUDA's name of it."""
    code = result if type(result) is not int else getattr(found, "CUresult", int)(result)
    name, text = (
        (each or b"unknown").decode() for each in (found.cuGetErrorName(code)[1], found.cuGetErrorString(code)[1])
    )
    return f"{name}: {text}", name
