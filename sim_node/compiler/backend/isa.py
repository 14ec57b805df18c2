"""Which GPUs there are, which PTX each needs, and which PTX a driver accepts, told without loading LLVM."""

from __future__ import annotations

from collections.abc import Iterable

from sim_node.compiler.backend.target import Target, target
from sim_node.errors import mistakes

# The least PTX version, times ten, that knows the GPU: NVIDIA, "Parallel Thread Execution ISA", section .target.
# Where these two differ LLVM ends the process, so they are compared here.
GPUS: dict[str, int] = {
    "sm_75": 63, "sm_80": 70, "sm_86": 71, "sm_87": 74, "sm_88": 90, "sm_89": 78, "sm_90": 78,
    "sm_100": 86, "sm_101": 86, "sm_103": 88, "sm_110": 90, "sm_120": 87, "sm_121": 88,
}  # fmt: skip

# The driver, as cuDriverGetVersion tells it, from which on a version is accepted: same document, "PTX Release History",
# also cuda-python's cuda.bindings.utils._ptx_utils. Up to what LLVM writes.
DRIVERS: dict[int, int] = {
    10000: 63, 10010: 64, 10020: 65, 11000: 70, 11010: 71, 11020: 72, 11030: 73, 11040: 74, 11050: 75, 11060: 76,
    11070: 77, 11080: 78, 12000: 80, 12010: 81, 12020: 82, 12030: 83, 12040: 84, 12050: 85, 12070: 86, 12080: 87,
    12090: 88, 13000: 90,
}  # fmt: skip

# Bytes of parameters that any version takes, and that 8.1 and later take: same document, "Kernel Function Parameters".
PARAMETERS, MORE_PARAMETERS, MORE_SINCE = 4352, 32764, 81


def named(name: str) -> Target:
    """Look a target up by name, a processor or a GPU; raises BuildError where there is none of that name."""
    return gpu(name) if name.startswith("sm_") else target(name)


def newest(arch: int, names: Iterable[str]) -> str | None:
    """Name the newest of these GPUs that is no newer than ``arch`` (90 for sm_90): its PTX runs on all after it."""
    older = [name for name in GPUS if name in set(names) and int(name[3:]) <= arch]
    return older[-1] if older else None


def accepted(driver: int) -> int:
    """Give the newest PTX version that a driver accepts and LLVM writes; a driver newer than the table takes the last.

    Raises BuildError for one that is older than the table.
    """
    versions = [version for since, version in DRIVERS.items() if since <= driver]
    if not versions:
        raise mistakes.BUILD_TARGET(
            f"the driver is of CUDA {_cuda(driver)}, which is too old", remedy=f"CUDA {_cuda(min(DRIVERS))}"
        )
    return versions[-1]


def gpu(name: str, ptx_version: int | None = None, driver: int | None = None, parameters: int = 0) -> Target:
    """Name a GPU as a target, for kernels of so many bytes of parameters.

    ``ptx_version`` is times ten (8.7 is 87); without it, it is the least that knows the GPU, which every driver of that
    GPU accepts. ``driver``, as cuDriverGetVersion tells it, is compared with the version where it is known.
    Raises BuildError for a GPU, version or driver that does not go with the others.
    """
    if name not in GPUS:
        raise mistakes.BUILD_TARGET(f"there is no target '{name}'", remedy=f"one of {', '.join(GPUS)}")
    if parameters > MORE_PARAMETERS:
        what = f"a kernel's arguments are {parameters} bytes, and a GPU takes {MORE_PARAMETERS}"
        raise mistakes.TOO_MANY_BYTES(what, remedy="an array for what is large")
    least = max(GPUS[name], MORE_SINCE if parameters > PARAMETERS else 0)
    version = least if ptx_version is None else ptx_version
    if version not in DRIVERS.values():
        written = ", ".join(_dotted(one) for one in DRIVERS.values())
        raise mistakes.BUILD_TARGET(
            f"PTX {_dotted(version)} is not a version that can be written", remedy=f"one of {written}"
        )
    if version < least:
        why = f", or {parameters} bytes of arguments" if parameters > PARAMETERS else ""
        raise mistakes.BUILD_TARGET(
            f"PTX {_dotted(version)} does not know {name}{why}", remedy=f"{_dotted(least)} or later"
        )
    if driver is not None and version > (newest := accepted(driver)):
        needed = next(since for since, one in DRIVERS.items() if one == version)
        what = f"the driver is of CUDA {_cuda(driver)} and accepts PTX {_dotted(newest)}, not {_dotted(version)}"
        lower = f"PTX {_dotted(newest)}, or " if newest >= least else ""
        raise mistakes.BUILD_TARGET(f"{name}: {what}", remedy=f"{lower}a driver of CUDA {_cuda(needed)} or later")
    return Target(name, "nvptx64", name, f"+ptx{version}")


def _dotted(version: int) -> str:
    return f"{version // 10}.{version % 10}"


def _cuda(driver: int) -> str:
    return f"{driver // 1000}.{driver % 1000 // 10}"
