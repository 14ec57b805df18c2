"""What doctor looks at: one function a check, each returning its status, detail and remedy."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import resource
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sim_node.errors import SimNodeError

_LIMITS = "put '@realtime - {}' into /etc/security/limits.conf, and yourself into the group realtime"

OK, WARN, FAIL, SKIP = "ok", "warn", "fail", "skip"


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found; ``remedy`` says what to do unless all is well."""

    status: str
    detail: str
    remedy: str = ""


def _python() -> Check:
    return Check(OK, f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}")


def _c_compiler() -> Check:
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return Check(OK, path)
    return Check(WARN, "none found", "only installing from source needs one: apt install build-essential")


def _llvmlite() -> Check:
    version = _version("llvmlite")
    if not version:
        return Check(FAIL, "not installed", "pip install llvmlite; without it only kernels in the cache run")
    return Check(OK, version)


def _native() -> Check:
    try:
        return Check(OK, str(importlib.import_module("sim_node._native").__file__))
    except ImportError as fault:
        return Check(FAIL, f"{fault}", "install the package (pip install .); it compiles its C part")


def _kernel() -> Check:
    from sim_node.cli.trial import run_trial

    try:
        began = time.perf_counter()
        run_trial()
    except (SimNodeError, ImportError, OSError) as fault:
        return Check(FAIL, f"{type(fault).__name__}: {str(fault).splitlines()[0]}", "see the checks above")
    return Check(OK, f"compiled, ran and agreed with Python in {(time.perf_counter() - began) * 1e3:.0f} ms")


def _cache() -> Check:
    from sim_node.compiler.cache import folder

    path = folder()
    probe = path
    while not probe.exists():
        probe = probe.parent
    if not os.access(probe, os.W_OK):
        return Check(
            WARN, f"{path} cannot be written", "set SIM_NODE_CACHE to a folder of yours; until then nothing is kept"
        )
    if path.exists() and path.stat().st_uid != os.getuid():
        return Check(WARN, f"{path} belongs to another user", "set SIM_NODE_CACHE to a folder of yours")
    free = shutil.disk_usage(probe).free
    if free < 100 << 20:
        return Check(WARN, f"{path}: {free >> 20} MiB free", "make room, or set SIM_NODE_CACHE to another disk")
    return Check(OK, f"{path}: {free >> 30} GiB free")


def _ros() -> Check:
    wheels = [distro for distro in ("jazzy", "kilted") if _version(f"ros-{distro}-rclpy")]
    distro = os.environ.get("ROS_DISTRO", "")
    if not wheels and not distro and importlib.util.find_spec("rclpy") is None:
        return Check(SKIP, "no ROS: run, record and demo need it, all else works", "source ROS 2, or make setup")
    try:
        importlib.import_module("rclpy")
    except ImportError as fault:
        return Check(FAIL, f"rclpy cannot be imported: {fault}", "source /opt/ros/<distro>/setup.bash, or make setup")
    return Check(OK, f"wheels of {wheels[0]}" if wheels else f"{distro}, sourced")


def _rmw() -> Check:
    try:
        name = importlib.import_module("rclpy.utilities").get_rmw_implementation_identifier()
    except ImportError:
        return Check(SKIP, "no ROS")
    except Exception as fault:  # rclpy raises its own kinds when no middleware can be loaded
        return Check(FAIL, str(fault).splitlines()[0], "install a middleware, such as rmw_fastrtps_cpp")
    return Check(OK, str(name))


def _messages() -> Check:
    from sim_node.replay.messages import definitions

    count = len(definitions())
    if importlib.util.find_spec("rclpy") is None:
        return Check(SKIP, f"{count} message types for bags; those for ROS are not built without ROS")
    try:
        importlib.import_module("sim_node.msg")
    except ImportError as fault:
        return Check(FAIL, f"{fault}", "install the package again with ROS sourced, without SIM_NODE_ROS=0")
    return Check(OK, f"{count} types")


def _shared_memory() -> Check:
    path = Path("/dev/shm")
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        return Check(FAIL, f"{path} cannot be written", "mount a tmpfs there that this user may write")
    room = shutil.disk_usage(path)
    detail = f"{room.free >> 20} of {room.total >> 20} MiB free"
    if room.free < 64 << 20:
        return Check(WARN, detail, "larger states do not fit; in a container start it with --shm-size=1g")
    return Check(OK, detail)


def _real_time() -> Check:
    soft, hard = resource.getrlimit(resource.RLIMIT_RTPRIO)
    if os.geteuid() == 0 or hard != 0:
        return Check(OK, "root" if os.geteuid() == 0 else f"priority up to {hard if hard >= 0 else 99} (now {soft})")
    return Check(
        WARN, "SCHED_FIFO is not permitted", "add '@realtime - rtprio 98' to /etc/security/limits.conf, join the group"
    )


def _locked_memory() -> Check:
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if os.geteuid() == 0 or hard == resource.RLIM_INFINITY:
        return Check(OK, "unlimited")
    if hard >= 256 << 20:
        return Check(OK, f"{hard >> 20} MiB")
    return Check(
        WARN, f"{hard >> 10} KiB", "add '@realtime - memlock unlimited' to /etc/security/limits.conf, join the group"
    )


def _clock() -> Check:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = source.read_text().strip() if source.is_file() else "unknown"
    late = sorted(_sleep_lateness() for _ in range(200))
    detail = (
        f"source {name}, resolution {time.clock_getres(time.CLOCK_MONOTONIC) * 1e9:.0f} ns, a sleep of 1 ms wakes "
        f"{late[100] * 1e6:.0f} µs late at the median, {late[197] * 1e6:.0f} µs at p99"
    )
    if name not in ("tsc", "kvm-clock", "arch_sys_counter", "unknown"):
        return Check(WARN, detail, "this source is slow to read; boot with clocksource=tsc if the machine allows")
    if late[197] > 1e-3:
        return Check(WARN, detail, "ticks of 1 kHz will be missed: give the clock a priority, or free the machine")
    return Check(OK, detail)


def _sleep_lateness() -> float:
    began = time.perf_counter()
    time.sleep(1e-3)
    return time.perf_counter() - began - 1e-3


def _remove_ipc() -> Check:
    if not Path("/run/systemd/system").is_dir():
        return Check(SKIP, "no systemd")
    lines = []
    for file in (Path("/etc/systemd/logind.conf"), *sorted(Path("/etc/systemd/logind.conf.d").glob("*.conf"))):
        if file.is_file():
            lines += [line.strip().lower() for line in file.read_text("utf-8", "replace").splitlines()]
    chosen = [line.split("=", 1)[1].strip() for line in lines if line.startswith("removeipc=")]
    if (chosen or ["yes"])[-1] in ("no", "false", "off", "0") or os.getuid() < 1000:
        return Check(OK, "shared memory outlives a logout")
    return Check(
        WARN,
        "at logout systemd removes this user's shared memory",
        "set RemoveIPC=no in /etc/systemd/logind.conf for nodes that outlive it",
    )


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


CHECKS: dict[str, Callable[[], Check]] = {
    "python": _python,
    "c_compiler": _c_compiler,
    "llvmlite": _llvmlite,
    "native": _native,
    "cache": _cache,
    "kernel": _kernel,
    "ros": _ros,
    "rmw": _rmw,
    "messages": _messages,
    "shared_memory": _shared_memory,
    "real_time": _real_time,
    "locked_memory": _locked_memory,
    "clock": _clock,
    "remove_ipc": _remove_ipc,
}
