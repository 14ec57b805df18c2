"""What a measurement was made on: without it a figure means nothing."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from sim_node.device import driver
from sim_node.device.cuda import Cuda

PACKAGES = (
    *("sim_node", "numpy", "llvmlite", "warp-lang", "numba", "iceoryx2", "ros-jazzy-rclpy", "ros-kilted-rclpy"),
    *("cuda-bindings", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch"),
)


def describe(gpu: Cuda | None = None) -> dict[str, object]:
    """Return processor, cores, memory (GiB), kernel, load, and the versions of us and the peers; of a GPU the like."""
    return {
        **({} if gpu is None else {"gpu": _gpu(gpu)}),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def _gpu(gpu: Cuda) -> dict[str, object]:
    """Tell its title, kind and memory, and the driver: CUDA's number, and its own where the system tells that."""
    memory = round(gpu.memory / 2**30, 1)
    return {"title": gpu.title, "arch": f"sm_{gpu.arch}", "memory_gib": memory, "driver": driver.version()}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
