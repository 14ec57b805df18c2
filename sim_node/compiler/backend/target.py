"""What code is generated for, told without loading LLVM."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from sim_node.errors import mistakes

_CPUINFO = Path("/proc/cpuinfo")
_FIRST = 1 << 14  # characters of it that hold its first processor


@dataclass(frozen=True)
class Target:
    """A kind of processor to generate code for.

    ``name`` is what users write, ``cpu``, ``features`` and ``triple`` are LLVM's words, ``needs`` what Linux lists of a
    processor that can run it. ``host`` has no words of its own: it is the processor that this process runs on.
    """

    name: str
    machine: str
    cpu: str = ""
    features: str = ""
    needs: frozenset[str] = frozenset()

    @property
    def triple(self) -> str:
        """The system that LLVM generates for."""
        return f"{self.machine}-{'nvidia-cuda' if self.is_gpu else 'unknown-linux-gnu'}"

    @property
    def is_gpu(self) -> bool:
        """Whether its code is PTX."""
        return self.machine == "nvptx64"

    @cached_property
    def identity(self) -> str:
        """What objects for it are kept under: equal ones run the same objects, with the same bits and speed."""
        return f"{self.name}{self.features}" if self.cpu else f"{self.name}-{self.machine}-{processor(_cpuinfo())}"

    @cached_property
    def bits(self) -> int:
        """How wide the vectors are that threads run in the lanes of."""
        known = self.needs if self.cpu else features(_cpuinfo())
        return 512 if known >= _V4 else 256 if known >= _V3 else 128

    @property
    def suffix(self) -> str:
        """How files of its code end: PTX is text, an object is ELF."""
        return ".ptx" if self.is_gpu else ".o"

    @property
    def runs(self) -> bool:
        """Whether this processor runs its code."""
        return self.machine == platform.machine() and self.needs <= features(_cpuinfo())


# System V ABI, AMD64 supplement, table 3.1: what each micro-architecture level adds, in Linux's words.
_V2 = frozenset(("cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"))
_V3 = _V2 | frozenset(("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"))
_V4 = _V3 | frozenset(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"))

HOST = Target("host", platform.machine())

# The best first.
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        HOST,
        Target("x86-64-v4", "x86_64", "x86-64-v4", needs=_V4),
        Target("x86-64-v3", "x86_64", "x86-64-v3", needs=_V3),
        Target("x86-64-v2", "x86_64", "x86-64-v2", needs=_V2),
        Target("aarch64", "aarch64", "generic"),
    )
}


def target(name: str) -> Target:
    """Look a processor up by name.

    Raises BuildError where there is none of that name.
    """
    if name not in TARGETS:
        raise mistakes.BUILD_TARGET(f"there is no target '{name}'", remedy=f"one of {', '.join(TARGETS)}")
    return TARGETS[name]


def best(identities: Iterable[str]) -> Target | None:
    """Choose the best of the targets with these identities that this processor runs; None if it runs none."""
    given = set(identities)
    return next((one for one in TARGETS.values() if one.identity in given and one.runs), None)


@cache
def _cpuinfo() -> str:
    try:
        with _CPUINFO.open(errors="replace") as file:
            return file.read(_FIRST)
    except OSError:
        return ""


def _first(cpuinfo: str) -> dict[str, str]:
    lines = (line.partition(":") for line in cpuinfo.split("\n\n", 1)[0].splitlines())
    return {key.strip(): value for key, _, value in lines}


def processor(cpuinfo: str) -> str:
    """Digest what Linux says of the first processor: its model and features, from which LLVM chooses instructions."""
    keys = (
        *("vendor_id", "cpu family", "model", "stepping", "flags"),
        *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
    )
    first = _first(cpuinfo)
    lines = [f"{key}:{first[key]}" for key in keys if key in first]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def features(cpuinfo: str) -> frozenset[str]:
    """Read which features the first processor has, in Linux's words."""
    return frozenset(_first(cpuinfo).get("flags", "").split())
