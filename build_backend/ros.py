"""Which ROS 2 the package is built and run with: none, the sourced installation, or the wheels of one distro."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT = "jazzy"

# Named one by one because the wheels under-declare what they need: the generators import these when CMake runs them.
_BUILD = (
    "ament-package",
    "ament-cmake",
    "ament-cmake-python",
    "ament-cmake-include-directories",
    "rosidl-default-generators",
    "rosidl-core-generators",
    "std-msgs",
    "builtin-interfaces",
    "rmw-fastrtps-cpp",
)
# distro with wheels → what its build needs beyond _BUILD
WHEELS = {
    "jazzy": (
        "ament-cmake-ros",
        "ament-cmake-gmock",
        "ament-cmake-gtest",
        "ament-cmake-pytest",
        "ament-cmake-vendor-package",
        "python-cmake-module",
    ),
    "kilted": ("ament-cmake-ros-core",),
}
_RUN = (
    "rclpy",
    "rmw-fastrtps-cpp",
    "builtin-interfaces",
    "diagnostic-msgs",
    "geometry-msgs",
    "lifecycle-msgs",
    "rcl-interfaces",
    "rosgraph-msgs",
    "sensor-msgs",
    "std-msgs",
    "std-srvs",
    "visualization-msgs",
)
# What the message generators import, of a ROS installation as well: build isolation hides the system's copies.
# Jazzy's generators use the interface of empy 3.
_GENERATORS = ("numpy", "catkin_pkg", "empy<4", "lark")


class RosError(Exception):
    """The environment asks for a ROS that cannot be had; the message says what to set instead."""


@dataclass(frozen=True)
class Ros:
    """A ROS 2 to build with. `source` is none, system or wheels; `paths` are a system's folders of Python modules."""

    source: str
    distro: str = ""
    paths: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The choice in one word: none, system-jazzy, jazzy."""
        return {"none": "none", "system": f"system-{self.distro}"}.get(self.source, self.distro)

    @property
    def build_requires(self) -> list[str]:
        """Wheels that the message generators need."""
        if self.source == "none":
            return []
        names = _BUILD + WHEELS[self.distro] if self.source == "wheels" else ()
        return [*_GENERATORS, *self._wheels(names)]

    @property
    def run_requires(self) -> list[str]:
        """Wheels that a running node needs."""
        return self._wheels(_RUN) if self.source == "wheels" else []

    def _wheels(self, names: tuple[str, ...]) -> list[str]:
        return [f"ros-{self.distro}-{name}" for name in names]


def choose(environ: Mapping[str, str] = os.environ) -> Ros:
    """Return the ROS that the environment asks for.

    SIM_NODE_ROS=0 is none; a sourced installation whose rclpy is of this Python comes next; else the wheels of
    ROS_DISTRO, Jazzy by default. Raises RosError where ROS_DISTRO names one that has no wheels.
    """
    if environ.get("SIM_NODE_ROS") == "0":
        return Ros("none")
    distro = environ.get("ROS_DISTRO", "") or DEFAULT
    paths = _system_paths(environ.get("AMENT_PREFIX_PATH", ""))
    if any((Path(path) / "rclpy").is_dir() for path in paths):
        return Ros("system", distro, paths)
    if distro not in WHEELS:
        raise RosError(
            f"ROS_DISTRO={distro} has no wheels, and no installation of it for Python "
            f"{sys.version_info.major}.{sys.version_info.minor} is sourced: source one, set ROS_DISTRO to "
            f"{' or '.join(WHEELS)}, or set SIM_NODE_ROS=0 to build without ROS."
        )
    return Ros("wheels", distro)


def _system_paths(prefixes: str) -> tuple[str, ...]:
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = (f"lib/{python}/site-packages", f"local/lib/{python}/dist-packages")
    found = (Path(prefix) / place for prefix in prefixes.split(os.pathsep) if prefix for place in places)
    return tuple(str(path) for path in found if path.is_dir())
